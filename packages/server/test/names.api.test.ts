// Names and numbers are told apart by what a person sees of them, wherever a caller writes one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { secret } from './leaks.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const post = (path: string, body: object) => tenant.ask('POST', path, { body })
const created = async (path: string, body: object) => {
	const { body: answer } = await tenant.ask('GET', `${path}/${(await post(path, body)).body.id}`)
	return answer.data ?? Object.values(answer)[0]
}

describe('the number of an invoice', () => {
	it.each(['ZZ-1 ', ' ZZ-1', 'ZZ-1\u00a0', '\u3000ZZ-1\u2003', 'ZZ-1\ufeff', 'ZZ-1\n'])(
		'%j is the number ZZ-1',
		async (invoiceNumber) => {
			const tenant = await server.newTenant()
			await tenant.ask('POST', '/api/invoices', { body: { invoiceNumber: 'ZZ-1' } })
			const again = await tenant.ask('POST', '/api/invoices', { body: { invoiceNumber } })
			expect(again).toMatchObject({ status: 409, body: { code: 'invoice_number_taken' } })
		},
	)

	it.each([
		'ZZ\u200b-1',
		'ZZ-1\u200b',
		'Z\u00adZ-1',
		'ZZ-1\u2060',
		'ZZ\u200c-1',
		'ZZ-1\u200d',
		'ZZ-1\u200e',
		'\u202eZZ-1',
		'ZZ\u00a01',
		'\u200b',
	])('%j is refused, with its place', async (invoiceNumber) => {
		const refused = await post('/api/invoices', { invoiceNumber })
		expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/invoiceNumber', code: 'format' }] } })
	})

	it('is composed, and stored so', async () => {
		const { id, invoiceNumber } = await created('/api/invoices', { invoiceNumber: ' RE\u0301-1 ' })
		expect(invoiceNumber).toBe('R\u00c9-1')
		expect((await post('/api/invoices', { invoiceNumber: 'R\u00c9-1' })).status).toBe(409)
		await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { invoiceNumber: '\tRE\u0301-2\u00a0' } })
		expect((await tenant.remit.invoices.get(id)).invoiceNumber).toBe('R\u00c9-2')
	})
})

it.each([
	['/api/companies', 'name', {}],
	['/api/contacts', 'name', {}],
	['/api/deals', 'name', {}],
	['/api/tax-rates', 'label', { name: 'VAT', percent: '5' }],
	['/api/invoices', 'invoiceNumber', {}],
])('a text at %s in which nothing is visible is no %s', async (path, field, more) => {
	for (const [text, code] of [
		[' ', 'minLength'],
		['\u00a0\u2003\ufeff', 'minLength'],
		['\u200b', 'format'],
		['\u00ad\u2060', 'format'],
	] as const)
		expect(await post(path, { ...more, [field]: text })).toMatchObject({
			status: 400,
			body: { errors: [{ pointer: `/${field}`, code }] },
		})
})

it.each([
	['/api/companies', { name: 'Acme\u200e' }, '/name', 'the invisible character U+200E at character 5'],
	['/api/companies', { name: ' 🦊\u00adAcme ' }, '/name', 'the invisible character U+00AD at character 2'],
	['/api/companies', { phone: 5, name: '\u{e0041}' }, '/name', 'the invisible character U+E0041 at character 1'],
	['/api/companies', { name: 'می\u200cخ\u2066' }, '/name', 'the invisible character U+2066 at character 5'],
	['/api/companies', { name: 'Ac\nme' }, '/name', 'the line break U+000A at character 3'],
	['/api/companies', { name: 'Ac\tme' }, '/name', 'the control character U+0009 at character 3'],
	['/api/companies', { name: 'Ac\ud800' }, '/name', 'the lone surrogate U+D800 at character 3'],
	['/api/companies', { name: 'Acme', notes: '🦊\0' }, '/notes', 'the control character U+0000 at character 2'],
	[
		'/api/companies',
		{ name: 'Acme', billingEmail: 'a@b.example\u200b' },
		'/billingEmail',
		'the invisible character U+200B at character 12',
	],
	['/api/invoices', { invoiceNumber: 'می\u200cخ' }, '/invoiceNumber', 'the invisible character U+200C at character 3'],
	['/api/invoices', { invoiceNumber: 'ZZ\u00a01\u200f' }, '/invoiceNumber', 'the white space U+00A0 at character 3'],
	[
		'/api/invoices',
		{ lineItems: [{}, { taxes: [{ label: 'V\u200b', percent: '5' }] }] },
		'/lineItems/1/taxes/0/label',
		'the invisible character U+200B at character 2',
	],
])('what is refused at %s in %j is named with its place', async (path, body, pointer, what) => {
	const refused = await post(path, body)
	expect(refused.body.errors).toContainEqual({ pointer, code: 'format', detail: `has ${what}` })
	if (refused.body.errors.length === 1) expect(refused.body.detail).toBe(`${pointer} has ${what}.`)
})

it('so is what is refused in the query', async () => {
	const refused = await tenant.ask('GET', '/api/time-entries?userId=u1%E2%80%8B')
	expect(refused.body.detail).toBe('userId has the invisible character U+200B at character 3.')
	expect((await post('/api/contacts', { name: 'Ada', email: 'ada' })).body.detail).toBe('/email must be an e-mail address.')
})

it('taxes whose labels differ by a blank are one tax, rounded once', async () => {
	const line = (label: string) => ({ description: 'a', quantity: '1', unitPriceCents: 10, taxes: [{ label, percent: '25' }] })
	const { taxBreakdown } = await created('/api/invoices', { lineItems: [line('VAT'), line('VAT '), line('VAT\u00a0')] })
	expect(taxBreakdown).toMatchObject([{ label: 'VAT', taxCents: 8 }])
})

it('one user has one timer, and is found, however the id is written', async () => {
	const dealId = await tenant.newDeal()
	const start = (userId: string) => post('/api/time-entries', { dealId, userId, startedAt: server.clock.now })
	expect(await created('/api/time-entries', { dealId, userId: ' u1', startedAt: server.clock.now })).toMatchObject({
		userId: 'u1',
	})
	expect(await start('u1 ')).toMatchObject({ status: 409, body: { code: 'timer_running' } })
	expect((await start('u1\u200b')).status).toBe(400)
	expect((await tenant.ask('GET', '/api/time-entries?userId=u1%20%0A')).body.data).toHaveLength(1)
})

it('every mistake is listed, and none that trimming has mended', async () => {
	const refused = await post('/api/companies', { name: '\u200b', phone: 5, domain: ' a.example\n' })
	expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(['/name', '/phone'])
})

it('Persian, Hindi and emoji keep their joiners', async () => {
	for (const name of ['می\u200cخواهم', 'क्\u200dष', '👩\u200d👩\u200d👧', '辻\u{e0100}'])
		expect((await created('/api/companies', { name: `${name} ` })).name).toBe(name)
})

it('a password of a connection keeps its blanks', async () => {
	const { schemas } = await import('../src/platform/contract/document.ts')
	const { violationIn } = await import('../src/platform/contract/fast-validator.ts')
	const credentials = { username: ' a', password: ` ${secret()} ` }
	expect([violationIn(schemas.ConnectionCredentials as never, credentials), credentials.password]).toEqual([
		undefined,
		` ${secret()} `,
	])
})
