// An organization charges time in steps of some minutes: each entry by itself, on the invoice alone.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { pdfText } from '../../../test/mail-server.ts'
import { invalid, recordsAt } from '../../../test/records.ts'
import type { OrganizationSettingsUpdate } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
let dealId: string
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	dealId = await tenant.newDeal({ hourlyRateCents: 10_000 })
})
afterAll(() => server.close())

const entries = recordsAt('/api/time-entries')
const settings = (body: OrganizationSettingsUpdate) => tenant.ask('PATCH', '/api/organization', { body })
const set = async (body: OrganizationSettingsUpdate) => expect((await settings(body)).status).toBe(200)
/** Entries of so many seconds, a day after each other. */
const worked = (...seconds: number[]) =>
	Promise.all(
		seconds.map((durationSeconds, index) => {
			return tenant.newTimeEntry({ dealId, durationSeconds, startedAt: Date.UTC(2026, 2, 2 + index, 9) })
		}),
	)
const invoice = async (timeEntryIds: string[], more = {}) => {
	const { id } = await tenant.remit.invoices.createFromTimeEntries({ dealId, timeEntryIds, groupBy: 'all', ...more })
	return tenant.remit.invoices.get(id)
}

describe('the rounding of time', () => {
	it('is none, and to 15 minutes, until it is changed; it has 1 to 60 minutes', async () => {
		const read = async () => (await tenant.ask('GET', '/api/organization')).body.data
		expect(await read()).toMatchObject({ timeRounding: 'none', timeRoundingMinutes: 15 })
		for (const minutes of [0, 61, 1.5, -15, null, '15']) {
			const body = { timeRoundingMinutes: minutes as number }
			expect(await settings(body)).toMatchObject(invalid('/timeRoundingMinutes'))
		}
		for (const how of ['down', null])
			expect(await settings({ timeRounding: how as 'up' })).toMatchObject(invalid('/timeRounding'))
		await set({ timeRounding: 'up', timeRoundingMinutes: 60 })
		expect(await read()).toMatchObject({ timeRounding: 'up', timeRoundingMinutes: 60 })
	})

	it.each([
		['none', 15, 2_712, 7_533],
		['up', 15, 0 + 900 + 900 + 900 + 1_800, 12_500],
		['nearest', 15, 0 + 0 + 900 + 900 + 900, 7_500],
		['up', 6, 0 + 720 + 720 + 1_080 + 1_080, 10_000],
		['nearest', 1, 0 + 420 + 480 + 900 + 900, 7_500],
		['up', 60, 4 * 3_600, 40_000],
	] as const)(
		'charges each entry by itself: %s to %i minutes',
		async (timeRounding, timeRoundingMinutes, durationSeconds, cents) => {
			await set({ timeRounding, timeRoundingMinutes })
			const ids = await worked(0, 449, 450, 900, 913)
			const before = await Promise.all(ids.map((id) => entries.read(tenant, id)))
			const { id, lineItems, ...made } = await invoice(ids)
			expect(made).toMatchObject({ timeRounding, timeRoundingMinutes, subtotalCents: cents })
			expect(lineItems).toMatchObject([{ durationSeconds, amountCents: cents }])
			const stored = await Promise.all(ids.map((id) => entries.read(tenant, id)))
			const claimed = { status: 'invoiced', invoiceId: id, version: 2 }
			expect(stored).toEqual(before.map((entry) => ({ ...entry, ...claimed })))
		},
	)

	it('is the invoice’s own: other settings change no line, no timesheet, and what it takes when it is no longer cancelled', async () => {
		await set({ timeRounding: 'up' })
		const ids = await worked(60, 901)
		const { id, lineItems } = await invoice(ids, { includeTimesheet: true })
		await set({ timeRounding: 'nearest', timeRoundingMinutes: 60 })
		const timesheet = async () => pdfText((await tenant.ask('GET', `/api/invoices/${id}/pdf`)).bytes)
		expect(await timesheet()).toMatch(/Timesheet .*0\.25.* 0\.50.*Total.* 0\.75/)
		await tenant.remit.invoices.update(id, { status: 'cancelled' })
		await tenant.remit.invoices.update(id, { status: 'draft' })
		expect(await tenant.remit.invoices.get(id)).toMatchObject({ timeRounding: 'up', timeRoundingMinutes: 15, lineItems })
		await tenant.remit.invoices.update(id, { status: 'cancelled' })
		await entries.changed(tenant, ids[0] as string, { durationSeconds: 900 })
		await tenant.remit.invoices.update(id, { status: 'draft' })
		await tenant.remit.invoices.update(id, { status: 'cancelled' })
		await entries.changed(tenant, ids[0] as string, { durationSeconds: 1_000 })
		const refused = await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { status: 'draft' } })
		expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_time_entries', errors: [{ code: 'changed' }] } })
		expect(refused.body.detail).toContain('line 1 charges 2700 s, but its time entries now have 3600 s')
	})
})
