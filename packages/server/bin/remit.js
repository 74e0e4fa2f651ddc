#!/usr/bin/env node
// Checks the build and the Node version first, so that the user gets one clear line when either is wrong.
import { existsSync } from 'node:fs'

const built = new URL('../dist/src/', import.meta.url)
if (!existsSync(new URL('cli.js', built))) {
	console.error('Remit is not built yet: run npx -y pnpm@12.21.0 build')
	process.exit(1)
}
const { missingNode } = await import(new URL('node-version.js', built).href)
const missing = missingNode()
if (missing) {
	console.error(`${missing} In a clone, pnpm brings its own: npx -y pnpm@12.21.0 start`)
	process.exit(1)
}
await import(new URL('cli.js', built).href)
