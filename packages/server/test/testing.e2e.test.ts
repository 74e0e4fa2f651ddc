// `@remit/server/testing`, as an application's tests use it.
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { NotFoundError, verifyWebhook } from '@remit/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRemit } from '../src/testing.ts'
import type { RunningRemit, StartRemitOptions } from '../src/testing-types.d.ts'

const clock = { now: Date.parse('2026-11-02T09:00:00Z') }
let server: RunningRemit
beforeAll(async () => {
	server = await startRemit({ now: () => clock.now })
})
afterAll(() => server.close())

it('gives an organization and a client that may do everything', async () => {
	const { remit, url, key } = server
	const { id } = await remit.invoices.create({ currency: 'EUR', totalCents: 5_000 })
	expect(await remit.invoices.get(id)).toMatchObject({ totalCents: 5_000, organizationId: server.organizationId })
	expect((await fetch(`${url}/api-keys`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
})

it('keeps organizations apart', async () => {
	const { id } = await server.remit.companies.create({ name: 'Acme' })
	const other = await server.newOrganization('Other Ltd')
	expect(other.organizationId).not.toBe(server.organizationId)
	await expect(other.remit.companies.get(id)).rejects.toBeInstanceOf(NotFoundError)
	expect(await other.remit.organization.get()).toMatchObject({ name: 'Other Ltd', timeZone: 'UTC' })
})

it('does what is due by the clock of the test when it is asked', async () => {
	const { id } = await server.remit.invoices.create({ totalCents: 100, status: 'sent', dueDate: '2026-11-10' })
	clock.now = Date.parse('2026-11-12T09:00:00Z')
	await server.runJobs()
	expect(await server.remit.invoices.get(id)).toMatchObject({ status: 'overdue' })
})

it('calls a receiver on this machine', async () => {
	const arrived = Promise.withResolvers<[body: Buffer, headers: NodeJS.Dict<string | string[]>]>()
	const receiver = createServer(async (request, response) => {
		arrived.resolve([await buffer(request), request.headers])
		response.writeHead(204).end()
	}).listen(0, '127.0.0.1')
	await once(receiver, 'listening')
	const { port } = receiver.address() as AddressInfo
	const endpoint = { url: `http://127.0.0.1:${port}/remit`, eventTypes: ['company.created' as const] }
	const { secret } = await server.remit.webhooks.endpoints.create(endpoint)
	const { id } = await server.remit.companies.create({ name: 'Northlight' })
	await server.runJobs()
	const [body, headers] = await arrived.promise
	expect(await verifyWebhook(body, headers, secret, { now: clock.now })).toMatchObject({ data: { id } })
	receiver.close()
})

it('writes mail into its folder', async () => {
	const { id } = await server.remit.invoices.create({ totalCents: 100, dueDate: '2026-12-31' })
	await server.remit.invoices.send(id, { to: 'billing@acme.example' })
	await server.runJobs()
	const [mail = ''] = readdirSync(join(server.folder, 'mail'))
	expect(readFileSync(join(server.folder, 'mail', mail), 'utf8')).toContain('billing@acme.example')
})

it('rejects a setting that there is not, and a value that cannot be, by its name', async () => {
	await expect(startRemit({ settings: { INVOICE_LIMIT: '5' } })).rejects.toThrow(/INVOICE_LIMIT is no setting/)
	const beside = { PAYMENT_PROCESSOR: 'none' } as StartRemitOptions
	await expect(startRemit(beside)).rejects.toThrow(/PAYMENT_PROCESSOR is no option .*settings/)
	await expect(startRemit({ settings: { PORT: 'any' } })).rejects.toThrow(/^PORT=any: must be/)
})

it.each([
	['its port is taken', (): StartRemitOptions => ({ settings: { PORT: new URL(server.url).port } }), /the port is taken/],
	['its clock tells no time', () => ({ now: () => Number.NaN }), /NOT NULL/],
] as const)('holds no file when it cannot start, since %s', async (_, options, reason) => {
	await expect(startRemit(options())).rejects.toThrow(reason)
	expect(heldFiles()).toEqual([])
})

/** The files of servers that this process has open, and that are deleted. */
function heldFiles(): string[] {
	const files = readdirSync('/proc/self/fd').flatMap((fd) => {
		try {
			return [readlinkSync(`/proc/self/fd/${fd}`)]
		} catch {
			// It was that of the folder itself.
			return []
		}
	})
	return files.filter((file) => /remit-test-.*\(deleted\)$/.test(file))
}

it('starts beside another one with less than a second of work, and leaves nothing behind', async () => {
	const before = process.cpuUsage()
	const other = await startRemit({ settings: { DATA_DIR: '/nowhere' }, timeZone: 'Asia/Tokyo' })
	const { user, system } = process.cpuUsage(before)
	expect((user + system) / 1_000).toBeLessThan(1_000)
	expect((await other.remit.companies.list()).data).toEqual([])
	expect((await other.remit.organization.get()).timeZone).toBe('Asia/Tokyo')
	await other.close()
	expect(existsSync(other.folder)).toBe(false)
	await expect(fetch(other.url)).rejects.toThrow()
})
