// The built server: it starts on an empty folder, keeps what it has answered over a kill, and ends when it is told to.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Remit } from '../remit.ts'
import { built } from './built.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-smoke-'))
const remit = new Remit({ DATA_DIR: folder, NODE_ENV: 'development' }, folder, built)
let key: string

beforeAll(async () => {
	const served = await remit.serve({}, ['--demo'])
	key = served.key as string
	await served.end('SIGKILL')
})
afterAll(() => {
	remit.stop()
	rmSync(folder, { recursive: true })
})

it('keeps an invoice that it has answered, although it is killed, and sets its PDF', async () => {
	const first = await remit.serve()
	const { id } = await new Client({ apiKey: key, baseUrl: first.url }).invoices.create({ lineItems: [] })
	await first.end('SIGKILL')
	const second = await remit.serve()
	const client = new Client({ apiKey: key, baseUrl: second.url })
	expect((await client.invoices.get(id)).id).toBe(id)
	const pdf = await fetch(`${second.url}/api/invoices/${id}/pdf`, { headers: { authorization: `Bearer ${key}` } })
	expect([pdf.status, Buffer.from(await pdf.arrayBuffer()).includes('NotoSans')]).toEqual([200, true])
	expect(await second.end('SIGTERM')).toEqual([0, null])
})

it('says in one line which setting is wrong, and ends with 1', async () => {
	const { code, stderr } = await remit.run(['serve'], { PORT: 'none' })
	expect([code, stderr.trim().split('\n').length, /PORT/.test(stderr)]).toEqual([1, 1, true])
})
