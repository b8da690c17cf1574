#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# install.sh DIR [WHAT...]: real agents and MCP servers, at fixed versions, by npm, into DIR.
#
# WHAT: claude-code codex opencode gemini qwen acp mcp static (all of them: about 1.7 GB).
# What is there already at its version is left alone, so a cache may be kept between runs.
set -u
dir=${1:?folder}
shift
[ $# -gt 0 ] || set -- claude-code codex opencode gemini qwen acp mcp static
command -v npm >/dev/null || { echo "install.sh: npm is needed" >&2; exit 1; }
mkdir -p "$dir" && cd "$dir" || exit 1

# npm skips install scripts that nobody approved; these three fetch or place a binary.
[ -f package.json ] || cat >package.json <<'END'
{
  "private": true,
  "allowScripts": { "@anthropic-ai/claude-code": true, "opencode-ai": true, "esbuild": true }
}
END

packages=()
for what; do
	case $what in
	claude-code) packages+=(@anthropic-ai/claude-code@2.1.197) ;;
	codex) packages+=(@openai/codex@0.169.0) ;;
	opencode) packages+=(opencode-ai@1.18.33) ;;
	gemini) packages+=(@google/gemini-cli@0.61.0) ;;
	qwen) packages+=(@qwen-code/qwen-code@0.15.10) ;;
	acp) packages+=(@zed-industries/claude-code-acp@0.16.2 @agentclientprotocol/claude-agent-acp@0.49.0) ;;
	mcp) packages+=(@modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31
		@modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/inspector@0.15.0) ;;
	static) packages+=(esbuild@0.28.2) ;;
	*) echo "install.sh: do not know $what" >&2; exit 2 ;;
	esac
done

# version PACKAGE: what is installed of it.
version() { node -p 'require("./node_modules/" + process.argv[1] + "/package.json").version' "$1" 2>/dev/null; }

missing=()
for package in "${packages[@]}"; do
	[ "$(version "${package%@*}")" = "${package##*@}" ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	npm install --save-exact --no-audit --no-fund --loglevel=error "${missing[@]}" || exit 1
fi

# An older or stricter npm may have passed the scripts over.
for what; do
	case $what in
	claude-code) node_modules/.bin/claude --version >/dev/null 2>&1 ||
		(cd node_modules/@anthropic-ai/claude-code && node install.cjs) || exit 1 ;;
	opencode) node_modules/.bin/opencode --version >/dev/null 2>&1 || npm rebuild opencode-ai || exit 1 ;;
	static) node_modules/.bin/esbuild --version >/dev/null 2>&1 || npm rebuild esbuild || exit 1 ;;
	esac
done
exit 0
