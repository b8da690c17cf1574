// SPDX-License-Identifier: Apache-2.0
// client.js KIND HOST - fetch, http.get, net and dgram of node.
const [, , kind, host] = process.argv;
const fail = e => { console.log(String(e.cause || e)); process.exit(1); };
const kinds = {
	fetch: () => fetch(`http://${host}/hello`).then(r => r.text()).then(t => console.log(t.trim())).catch(fail),
	get: () => require('http').get(`http://${host}/hello`, r => r.pipe(process.stdout)).on('error', fail),
	tcp: () => {
		const s = require('net').connect(7007, host, () => s.write('echo'));
		s.on('data', d => { console.log(String(d)); s.end(); }).on('error', fail);
	},
	udp: () => {
		const s = require('dgram').createSocket('udp4');
		s.on('message', d => { console.log(String(d)); s.close(); }).on('error', fail);
		s.send('echo', 7007, host, e => e && fail(e));
		setTimeout(() => fail('no answer'), 5000).unref();
	},
};
kinds[kind]();
