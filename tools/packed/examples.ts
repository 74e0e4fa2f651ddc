// Runs every program of examples/ as a reader would: copied to an empty folder, with the packed SDK, against the packed server.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { inChromium } from './chromium.ts'
import { examplesFolder, serve } from './folder.ts'

const folder = examplesFolder()
const { url, key, stop } = await serve({ NODE_ENV: 'development' })
const env = { PATH: process.env.PATH, HOME: process.env.HOME, REMIT_BASE_URL: url, REMIT_API_KEY: key }

function expect(name: string, printed: string, pattern: RegExp): void {
	if (!pattern.test(printed)) throw new Error(`${name} prints\n${printed}\nwhere ${pattern} is expected`)
	console.log(`${name} runs`)
}

const run = (name: string) =>
	execFileSync(process.execPath, [name], {
		cwd: folder,
		env,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'inherit'],
		timeout: 60_000,
	})

async function call(path: string, body: object): Promise<{ id: string; secret: string }> {
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
	const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
	if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
	return (await answer.json()) as Awaited<ReturnType<typeof call>>
}

/** A program that serves, and the lines that it prints. */
async function begin(name: string, port: number, more: Record<string, string> = {}) {
	const child = spawn(process.execPath, [name], {
		cwd: folder,
		env: { ...env, ...more, PORT: String(port) },
		stdio: ['ignore', 'pipe', 'inherit'],
	})
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
	const next = async () => String((await lines.next()).value)
	const end = async () => {
		const ended = once(child, 'close')
		child.kill()
		await ended
	}
	return { first: await next(), next, end }
}

async function receives(name: string, port: number): Promise<void> {
	const endpoint = { url: `http://127.0.0.1:${port}/remit`, eventTypes: ['invoice.paid'] }
	const { id, secret } = await call('/webhooks/endpoints', endpoint)
	const receiver = await begin(name, port, { REMIT_WEBHOOK_SECRET: secret })
	try {
		await call('/api/invoices', { totalCents: 4_200, status: 'paid' })
		expect(name, await receiver.next(), /^INV-\d+ was paid: 4200$/)
		const forged = await fetch(endpoint.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
		if (forged.status !== 400) throw new Error(`${name} answers a forged webhook with ${forged.status}`)
	} finally {
		await receiver.end()
		const headers = { authorization: `Bearer ${key}` }
		await fetch(`${url}/webhooks/endpoints/${id}`, { method: 'DELETE', headers })
	}
}

async function list(port: number): Promise<void> {
	const server = await begin('react-list/server.ts', port)
	try {
		const { invoices } = (await (await fetch(`${server.first}/invoices`)).json()) as { invoices: unknown[] }
		if (invoices.length === 0) throw new Error('react-list has no invoices')
		const more = await inChromium(async (page) => {
			await page.goto(server.first)
			await page.getByRole('row').first().waitFor()
			const before = await page.getByRole('row').count()
			await page.getByRole('button', { name: 'More' }).click()
			await page.getByRole('row').nth(before).waitFor()
			return String(await page.getByRole('row').nth(before).textContent())
		})
		if (more === undefined) console.log('react-list is not opened: there is no Chromium')
		else expect('react-list', more, /^INV-\d+.*(sent|paid|draft|overdue|cancelled)\D+\d/)
	} finally {
		await server.end()
	}
}

try {
	execFileSync('npx', ['--no-install', 'tsc', '--project', '.'], { cwd: folder, stdio: 'inherit' })
	const first = run('create-and-send.ts')
	expect('create-and-send.ts', first, /^INV-\d+ is sent: €1,749\.30, of it €279\.30 tax\.\n$/)
	expect('create-and-send.ts again', run('create-and-send.ts'), new RegExp(`^${first.split(' ')[0]} is sent: `))
	expect(
		'time-to-invoice.ts',
		run('time-to-invoice.ts'),
		/^This will be 654\.50 EUR\.\nINV-\d+\.pdf is written, .* http\S+\/view\/invoice\/\S+\n$/,
	)
	expect('sync.ts', run('sync.ts'), /^succeeded: 12 read, \d+ created, \d+ updated$/m)
	const port = 20_000 + (process.pid % 20_000)
	await receives('webhooks-express.ts', port)
	await receives('webhooks-hono.ts', port + 1)
	await list(port + 2)
	const known = ['create-and-send.ts', 'sync.ts', 'time-to-invoice.ts', 'webhooks-express.ts', 'webhooks-hono.ts', 'react-list']
	const unknown = readdirSync(join(import.meta.dirname, '../../examples')).filter(
		(name) => !known.includes(name) && !['README.md', 'package.json', 'tsconfig.json', 'node_modules'].includes(name),
	)
	if (unknown.length > 0) throw new Error(`examples/${unknown.join(', ')} is run by nothing: add it here`)
} finally {
	await stop()
}
