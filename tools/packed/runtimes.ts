// The packed SDK in every runtime that it says it runs in: ten calls each, two of them through failures, and a webhook.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { inChromium } from './chromium.ts'
import { farEnd } from './far-end.ts'
import { install, serve, versionOf } from './folder.ts'

const platform = `${process.platform}-${process.arch}`
const nodes = { 20: '20.20.2', 22: '22.23.3', 26: '26.10.0' }
const others = { bun: '1.4.5', deno: '2.9.6', workerd: '1.20261117.1' }

const folder = install('runtimes', (folder) => {
	cpSync(join(import.meta.dirname, 'runtimes'), folder, { recursive: true })
	const node = Object.entries(nodes).map(([major, version]) => [`node${major}`, `npm:node-${platform}@${version}`])
	const dependencies = { '@remit/sdk': versionOf('sdk'), ...others, ...Object.fromEntries(node) }
	writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }, null, '\t'))
})
const bin = (name: string) => join(folder, 'node_modules/.bin', name)

const bundle = async (name: string, format: 'esm' | 'iife') => {
	const entryPoints = [join(folder, `${name}.js`)]
	const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format, platform: 'neutral' })
	return outputFiles[0]?.text ?? ''
}

const page = '<!doctype html><html lang="en"><title>Calls</title><script src="/page.js"></script></html>'
const far = await farEnd({
	'/page': ['text/html', page],
	'/page.js': ['text/javascript', await bundle('page', 'iife')],
})
/** Another origin than the one that the page calls. */
const pageOrigin = far.url.replace('127.0.0.1', 'localhost')
const served = await serve({ INTEGRATION_RATE_LIMIT: '0', INVOICING_RATE_LIMIT: '0', CORS_ORIGINS: pageOrigin })
far.to(served.url)

async function program(file: string, ...args: string[]): Promise<string> {
	const run = promisify(execFile)
	return (await run(file, [...args, 'process.js', served.key, far.url], { cwd: folder, timeout: 60_000 })).stdout
}

async function workerd(compatibilityDate: string): Promise<string> {
	writeFileSync(join(folder, 'bundle.js'), await bundle('worker', 'esm'))
	const bindings = Object.entries({ apiKey: served.key, baseUrl: far.url })
	writeFileSync(
		join(folder, 'config.capnp'),
		`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
	services = [
		(name = "main", worker = (
			modules = [(name = "worker", esModule = embed "bundle.js")],
			compatibilityDate = "${compatibilityDate}",
			bindings = [${bindings.map(([name, text]) => `(name = "${name}", text = "${text}")`).join(', ')}],
		)),
		(name = "internet", network = (allow = ["public", "private", "local"])),
	],
	sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`,
	)
	const child = spawn(bin('workerd'), ['serve', 'config.capnp', '--control-fd=3'], {
		cwd: folder,
		stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
	})
	try {
		const [line] = await once(createInterface({ input: child.stdio[3] as NodeJS.ReadableStream }), 'line')
		const { port } = JSON.parse(line) as { port: number }
		return await (await fetch(`http://127.0.0.1:${port}`)).text()
	} finally {
		const ended = once(child, 'exit')
		child.kill('SIGKILL')
		await ended
	}
}

const browser = () =>
	inChromium(async (page) => {
		await page.goto(`${pageOrigin}/page`)
		return page.evaluate<string>(`calls(${JSON.stringify(served.key)}, ${JSON.stringify(far.url)})`)
	})

const runtimes: Record<string, () => Promise<string | undefined>> = {
	...Object.fromEntries(
		Object.entries(nodes).map(([major, version]) => [
			`Node ${version}`,
			() => program(join(folder, `node_modules/node${major}/bin/node`)),
		]),
	),
	[`Node ${process.versions.node}`]: () => program(process.execPath),
	[`Bun ${others.bun}`]: () => program(bin('bun')),
	[`Deno ${others.deno}`]: () =>
		program(bin('deno'), 'run', '--quiet', '--allow-net', '--allow-env', '--node-modules-dir=manual'),
	[`workerd ${others.workerd}`]: () => workerd('2026-11-01'),
	// From before fetch took `cache` there.
	[`workerd ${others.workerd}, as of 2024`]: () => workerd('2024-01-01'),
	Chromium: browser,
}

try {
	for (const [name, run] of Object.entries(runtimes)) {
		far.arm()
		const told = await run()
		if (told === undefined) console.log(`${name}: not here`)
		else if (told.trim() !== 'ten calls') throw new Error(`${name}: ${told}`)
		else if (far.failed() !== 2) throw new Error(`${name}: met ${far.failed()} of 2 failures`)
		else console.log(`${name}: ten calls`)
	}
} finally {
	far.close()
	await served.stop()
}
