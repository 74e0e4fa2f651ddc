#!/usr/bin/env node
// Checks the Node version and the build first, so that the user gets one clear line when either is wrong.
import { existsSync } from 'node:fs'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
	console.error(
		`Remit needs Node 22.14 or newer and this is ${process.version}. In a clone, pnpm brings its own: npx -y pnpm@12.21.0 start`,
	)
	process.exit(1)
}
const cli = new URL('../dist/src/cli.js', import.meta.url)
if (!existsSync(cli)) {
	console.error('Remit is not built yet: run npx -y pnpm@12.21.0 build')
	process.exit(1)
}
await import(cli.href)
