// The command `remit` as a process of its own: what it prints, its exit codes, and what it does when it is interrupted.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Remit } from '../remit.ts'
import { built } from './built.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-smoke-'))
const remit = new Remit({ DATA_DIR: folder }, folder, built)
afterAll(() => {
	remit.stop()
	rmSync(folder, { recursive: true })
})

it('makes an organization and a key by which a server is asked, and revokes the key', async () => {
	await remit.run(['migrate'])
	const { organizationId } = await remit.json(['organizations', 'create', '--name', 'Smoke Ltd'])
	const { id, key } = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])
	const served = await remit.serve()
	const env = { REMIT_BASE_URL: served.url, REMIT_API_KEY: key }
	const asked = await remit.run(['api', 'organization', 'get'], env)
	expect(asked).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"Smoke Ltd"') })
	await remit.json(['keys', 'revoke', id])
	expect((await remit.run(['keys', 'revoke', id])).code).toBe(1)
	await served.end('SIGTERM')
})

it('ends with 1 and a sentence on an unknown command', async () => {
	const { code, stderr } = await remit.run(['invoice'])
	expect([code, /unknown command 'invoice'/.test(stderr)]).toEqual([1, true])
})
