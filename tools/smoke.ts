// Does what a new user does first: runs `start` on an empty folder, sends a request with the key that it prints, sees a sync move, and kills npx.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'remit-smoke-'))
const env = { ...process.env, DATA_DIR: folder, PORT: '0' }
const server = spawn('npx', ['-y', 'pnpm@12.21.0', 'start'], {
	cwd: root,
	env,
	detached: true,
	stdio: ['ignore', 'pipe', 'inherit'],
})

try {
	const [url, key] = await printed()
	const response = await fetch(`${url}/api/invoices?status=overdue`, { headers: { authorization: `Bearer ${key}` } })
	const { data } = (await response.json()) as { data: unknown[] }
	if (response.status !== 200 || data.length === 0)
		throw new Error(`the demo's overdue invoices: ${response.status} with ${data.length}`)
	await synced(url, key)
	console.log(`start serves ${url} with a demo, and a sync that has moved`)
} finally {
	// The pipe of its output is closed once the server has ended, which npx tells nothing (tools/end-with-runners.ts).
	const closed = new Promise((close) => server.once('close', close))
	server.kill('SIGKILL')
	const isClosed = await Promise.race([closed.then(() => true), sleep(60_000, false)])
	if (!isClosed) {
		process.kill(-(server.pid as number), 'SIGKILL')
		process.exitCode = 1
		console.error('the server went on without npx, which had started it')
	}
	rmSync(folder, { recursive: true, force: true })
}

/** Waits until the demo's sync has brought the companies of its CRM. */
async function synced(url: string, key: string): Promise<void> {
	let sync: { lastRun: { status: string } | null } | undefined
	for (let looks = 0; looks < 30; looks++) {
		const response = await fetch(`${url}/syncs`, { headers: { authorization: `Bearer ${key}` } })
		;[sync] = ((await response.json()) as { data: [typeof sync] }).data
		if (sync?.lastRun?.status === 'succeeded') return
		await sleep(1_000)
	}
	throw new Error(`the demo's sync has not moved within 30 s: ${JSON.stringify(sync)}`)
}

/** Resolves to the URL and the key once the server has printed both. */
function printed(): Promise<[url: string, key: string]> {
	return new Promise((found, failed) => {
		let output = ''
		server.stdout.on('data', (chunk) => {
			output += chunk
			const url = /^Remit serves (\S+)$/m.exec(output)?.[1]
			const key = /\brmt_\w{38}\b/.exec(output)?.[0]
			if (url && key) found([url, key])
		})
		server.once('close', (code) => failed(new Error(`start ended with ${code}: ${output}`)))
	})
}
