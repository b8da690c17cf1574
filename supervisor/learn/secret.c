/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - names of files and sockets that nobody should be given by accident. */
#include "supervisor/learn/secret.h"

#include <stdbool.h>
#include <string.h>

#include "policy/array.h"
#include "policy/glob.h"

/* Where the files have such a name in every installation, and are no secrets. */
enum { ANYWHERE, NOT_SHIPPED };

static const struct {
	const char *name; /* pattern of the file's name */
	const char *what;
	int where;
} files[] = {
	{".env", "settings with secrets", ANYWHERE},
	{".env.*", "settings with secrets", ANYWHERE},
	{"*.env", "settings with secrets", NOT_SHIPPED},
	{".envrc", "settings with secrets", ANYWHERE},
	{"id_rsa*", "a private key", NOT_SHIPPED},
	{"id_dsa*", "a private key", NOT_SHIPPED},
	{"id_ecdsa*", "a private key", NOT_SHIPPED},
	{"id_ed25519*", "a private key", NOT_SHIPPED},
	{"*.pem", "perhaps a private key", NOT_SHIPPED},
	{"*.key", "perhaps a private key", NOT_SHIPPED},
	{"*.p12", "a private key", NOT_SHIPPED},
	{"*.pfx", "a private key", NOT_SHIPPED},
	{"*.jks", "a private key", NOT_SHIPPED},
	{"*.keystore", "a private key", NOT_SHIPPED},
	{"*.ppk", "a private key", NOT_SHIPPED},
	{"*.kdbx", "passwords", NOT_SHIPPED},
	{"*.keychain*", "passwords", NOT_SHIPPED},
	{".htpasswd", "passwords", NOT_SHIPPED},
	{".netrc", "passwords", ANYWHERE},
	{"_netrc", "passwords", ANYWHERE},
	{".pgpass", "passwords", ANYWHERE},
	{".my.cnf", "passwords", ANYWHERE},
	{".git-credentials", "passwords", ANYWHERE},
	{".pypirc", "a registry's credentials", ANYWHERE},
	{".dockercfg", "a registry's credentials", ANYWHERE},
	{"credentials", "credentials", NOT_SHIPPED},
	{"credentials.*", "credentials", NOT_SHIPPED},
	{"application_default_credentials.json", "cloud credentials", ANYWHERE},
	{"client_secret*.json", "cloud credentials", ANYWHERE},
	{"service-account*.json", "cloud credentials", ANYWHERE},
	{"service_account*.json", "cloud credentials", ANYWHERE},
	{"secret.*", "secrets", NOT_SHIPPED},
	{"secrets.*", "secrets", NOT_SHIPPED},
	{"*.tfstate", "cloud credentials", NOT_SHIPPED},
	{"*.tfvars", "cloud credentials", NOT_SHIPPED},
	{"kubeconfig*", "cloud credentials", NOT_SHIPPED},
	{".vault-token", "a token", ANYWHERE},
	{"*token", "a token", NOT_SHIPPED},
	{"*token*.txt", "a token", NOT_SHIPPED},
	{"Login Data*", "a browser's passwords", ANYWHERE},
	{"cookies.sqlite*", "a browser's cookies", ANYWHERE},
	{"Cookies", "a browser's cookies", NOT_SHIPPED},
	{"key4.db", "a browser's passwords", ANYWHERE},
	{"logins.json", "a browser's passwords", ANYWHERE},
	{".bash_history", "what was typed", ANYWHERE},
	{".zsh_history", "what was typed", ANYWHERE},
	{".python_history", "what was typed", ANYWHERE},
	{".psql_history", "what was typed", ANYWHERE},
};

/* Templates that are meant to be read. */
static const char *const harmless[] = {"*.example", "*.sample", "*.template", "*.dist",
	"*.pub", "cacert.pem", "ca-bundle*.pem", "ca-cert*.pem", "*.d.ts", "*.js",
	"*.mjs", "*.cjs", "*.ts", "*.py", "*.go", "*.rs", "*.c", "*.h", "*.java"};

static const struct {
	const char *folder; /* as a whole part of the path */
	const char *what;
} folders[] = {
	{".ssh", "private keys"},
	{".gnupg", "private keys"},
	{".aws", "cloud credentials"},
	{".azure", "cloud credentials"},
	{".kube", "cloud credentials"},
	{".password-store", "passwords"},
	{"keyrings", "passwords"},
	{"Keychains", "passwords"},
	{".mozilla", "a browser's profile"},
	{".thunderbird", "mail"},
	{"google-chrome", "a browser's profile"},
	{"chromium", "a browser's profile"},
	{"BraveSoftware", "a browser's profile"},
	{"microsoft-edge", "a browser's profile"},
};

/* What anybody may read there came with a package. */
static const char *const shipped[] = {"/usr", "/lib", "/lib32", "/lib64", "/bin",
	"/sbin", "/opt", "/etc/ssl", "/etc/pki", "/etc/ca-certificates",
	"/**/node_modules", "/**/site-packages", "/**/dist-packages",
	"/**/.cargo/registry", "/**/go/pkg"};

static const struct {
	const char *pattern, *what;
} places[] = {
	{"/proc/kcore", "the machine's memory"},
	{"/dev/mem", "the machine's memory"},
	{"/dev/kmem", "the machine's memory"},
	{"/dev/sd*", "a disk"},
	{"/dev/vd*", "a disk"},
	{"/dev/nvme*", "a disk"},
	{"/dev/dm-*", "a disk"},
	{"/dev/mapper", "a disk"},
	{"/dev/input", "what is typed"},
	{"/var/lib/docker", "containers"},
	{"/var/lib/containers", "containers"},
	{"/run/secrets", "secrets"},
	{"/var/run/secrets", "secrets"},
	{"/var/spool/mail", "mail"},
	{"/var/mail", "mail"},
};

static const struct {
	const char *pattern, *what;
} sockets[] = {
	{"/**/ssh-*/agent.*", "the ssh agent, which signs with your keys"},
	{"/**/.ssh", "ssh connections that are open"},
	{"/**/S.gpg-agent*", "the gpg agent, which signs with your keys"},
	{"/**/gnupg", "the gpg agent, which signs with your keys"},
	{"/**/keyring", "passwords"},
	{"/run/user/*/bus", "the session bus, which starts programs outside"},
	{"/tmp/dbus-*", "the session bus, which starts programs outside"},
	{"/run/dbus/system_bus_socket", "the system bus"},
	{"/var/run/dbus/system_bus_socket", "the system bus"},
	{"/run/systemd/private", "the service manager"},
	{"/run/user/*/systemd", "the service manager, which starts programs outside"},
	{"/tmp/.X11-unix", "the screen and what is typed"},
	{"/run/user/*/wayland-*", "the screen and what is typed"},
	{"/tmp/tmux-*", "terminals outside"},
	{"/run/screen", "terminals outside"},
	{"/**/docker.sock", "a container engine"},
	{"/**/podman.sock", "a container engine"},
	{"/**/containerd.sock", "a container engine"},
	{"/**/vscode-*.sock", "an editor outside"},
};

static bool covers(const char *pattern, const char *path)
{
	return aw_glob_covers(pattern, strlen(pattern), path, strlen(path));
}

static bool named(const char *pattern, const char *name)
{
	return aw_glob_match(pattern, strlen(pattern), name, strlen(name));
}

static bool is_shipped(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(shipped); i++)
		if (covers(shipped[i], path))
			return true;
	return false;
}

static bool is_harmless(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (named(harmless[i], name))
			return true;
	return false;
}

static const char *by_name(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!named(files[i].name, name))
			continue;
		if (is_harmless(name) ||
			(files[i].where == NOT_SHIPPED && is_shipped(path)))
			return NULL;
		return files[i].what;
	}
	return NULL;
}

static const char *by_folder(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t len = strlen(folders[i].folder);
		const char *at = path;

		while ((at = strstr(at, folders[i].folder))) {
			if (at[-1] == '/' && (!at[len] || at[len] == '/') &&
				!is_shipped(path))
				return folders[i].what;
			at += len;
		}
	}
	return NULL;
}

const char *aw_secret_file(const char *path)
{
	const char *what;

	if (path[0] != '/' || strncmp(path, "/usr/", 5) == 0)
		return NULL;
	what = by_name(path);
	if (!what)
		what = by_folder(path);
	if (what ||
		(strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/dev/", 5) != 0 &&
			strncmp(path, "/var/", 5) != 0 &&
			strncmp(path, "/run/", 5) != 0))
		return what;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (covers(places[i].pattern, path))
			return places[i].what;
	return NULL;
}

const char *aw_secret_socket(const char *path)
{
	if (path[0] == '@')
		path++;
	for (size_t i = 0; path[0] == '/' && i < ARRAY_SIZE(sockets); i++)
		if (covers(sockets[i].pattern, path))
			return sockets[i].what;
	return NULL;
}
