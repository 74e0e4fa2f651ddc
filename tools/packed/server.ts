// The server as a package, with its production dependencies alone: it serves the API, the pages, the reference and a PDF.
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closure, install, root, tarball } from './folder.ts'

const folder = install('server', ['server'])
const megabytes = Number(execFileSync('du', ['-sm', 'node_modules'], { cwd: folder, encoding: 'utf8' }).split('\t')[0])
for (const name of closure(['server'])) {
	const files = execFileSync('tar', ['-tzf', tarball(name)], { encoding: 'utf8' }).split('\n')
	const missing = ['package/LICENSE', 'package/README.md'].filter((file) => !files.includes(file))
	if (missing.length > 0) throw new Error(`the package of ${name} lacks ${missing.join(' and ')}`)
}

const guide = readFileSync(join(root, 'docs/guides/production.md'), 'utf8')
const said = Number(/takes (\d+) MB on disk/.exec(guide)?.[1])
if (!(Math.abs(megabytes - said) <= said / 20))
	throw new Error(`the package takes ${megabytes} MB on disk; docs/guides/production.md says ${said}`)

const server = spawn('npx', ['--no-install', 'remit', 'serve', '--demo', '--json'], {
	cwd: folder,
	env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'silent' },
	detached: true,
	stdio: ['ignore', 'pipe', 'inherit'],
})
try {
	const { url, key } = await started()
	const ask = async (path: string, type: RegExp) => {
		const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
		if (answer.status !== 200 || !type.test(answer.headers.get('content-type') ?? ''))
			throw new Error(`${path}: ${answer.status} ${answer.headers.get('content-type')}`)
		return answer
	}
	const { data } = (await (await ask('/api/invoices?limit=1', /json/)).json()) as { data: [{ id: string }] }
	const pdf = Buffer.from(await (await ask(`/api/invoices/${data[0].id}/pdf`, /pdf/)).arrayBuffer())
	if (!pdf.includes('NotoSans')) throw new Error('the PDF has not its fonts')
	await ask('/app/invoices', /html/)
	const [sheet = ''] = /\/docs\/[^"]+swagger-ui\.css/.exec(await (await ask('/docs', /html/)).text()) ?? []
	await ask(sheet, /css/)
	console.log(`@remit/server takes ${megabytes} MB on disk with its dependencies, and serves`)
} finally {
	if (server.pid) process.kill(-server.pid, 'SIGTERM')
	await new Promise((exited) => server.once('close', exited))
}

function started(): Promise<{ url: string; key: string }> {
	return new Promise((found, failed) => {
		let output = ''
		server.stdout.on('data', (chunk) => {
			output += chunk
			if (output.includes('\n')) found(JSON.parse(output.slice(0, output.indexOf('\n'))))
		})
		server.once('close', (code) => failed(new Error(`remit serve ended with ${code}: ${output}`)))
	})
}
