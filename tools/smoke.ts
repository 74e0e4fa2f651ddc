// Does what a new user does first: runs `start` on an empty folder, and sends a request with the key that it prints.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'remit-smoke-'))
const env = { ...process.env, DATA_DIR: folder, PORT: '0' }
const server = spawn('npx -y pnpm@12.21.0 start', {
	cwd: root,
	shell: true,
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
	console.log(`start serves ${url} with a demo`)
} finally {
	if (server.pid) process.kill(-server.pid, 'SIGTERM')
	await new Promise((exited) => server.once('close', exited))
	rmSync(folder, { recursive: true, force: true })
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
