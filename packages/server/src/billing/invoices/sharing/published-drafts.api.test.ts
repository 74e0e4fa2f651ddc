// Whether a draft can be seen and paid before it is sent.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
afterAll(() => server.close())

async function draft(publishDrafts: boolean) {
	const { remit, ask } = await server.newTenant()
	await remit.organization.update({ publishDrafts })
	const { id } = await remit.invoices.create({ totalCents: 5_000 })
	const { url } = await remit.invoices.clientLink.create(id)
	const token = url.split('/').at(-1)
	const seen = async () => {
		const api = `${server.url}/api/invoices/public/${token}`
		const answers = await Promise.all([api, `${api}/pdf`, url].map((path) => fetch(path, { headers: { purpose: 'prefetch' } })))
		return answers.map(({ status }) => status)
	}
	const pay = () => ask('POST', `/api/invoices/${id}/payment-link`)
	return { remit, id, seen, pay }
}

it('it can, as long as the organization publishes drafts', async () => {
	const { seen, pay } = await draft(true)
	expect(await seen()).toEqual([200, 200, 200])
	expect((await pay()).status).toBe(200)
})

it('it cannot where they are not published: its link works once it is sent, and no longer when it is a draft again', async () => {
	const { remit, id, seen, pay } = await draft(false)
	const refused = { status: 422, body: { code: 'nothing_to_pay', detail: expect.stringContaining('draft') } }
	expect(await seen()).toEqual([404, 404, 404])
	expect(await pay()).toMatchObject(refused)
	await remit.invoices.update(id, { status: 'sent' })
	expect(await seen()).toEqual([200, 200, 200])
	const { url } = (await pay()).body
	expect((await fetch(url)).status).toBe(200)
	await remit.invoices.update(id, { status: 'draft' })
	expect(await seen()).toEqual([404, 404, 404])
	expect(await pay()).toMatchObject(refused)
	expect((await fetch(url)).status).not.toBe(200)
})
