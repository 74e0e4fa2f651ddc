// The server as a package, with its production dependencies alone: it serves the API, the pages, the reference and a PDF.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closure, root, serve, serverFolder, tarball } from './folder.ts'

const folder = serverFolder()
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

const { url, key, stop } = await serve({})
try {
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
	await stop()
}
