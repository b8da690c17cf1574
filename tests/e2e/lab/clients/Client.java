// SPDX-License-Identifier: Apache-2.0
// Client.java - java.net.http, non-blocking inside.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

public class Client {
	public static void main(String[] args) {
		HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + args[0] + "/hello")).build();

		try {
			System.out.print(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
			System.exit(0);
		} catch (Exception e) {
			System.out.println(e);
			System.exit(1);
		}
	}
}
