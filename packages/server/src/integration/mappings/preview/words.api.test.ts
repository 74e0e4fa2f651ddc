// A record that cannot be written is refused in the same words in a preview, in a run, and to a caller who writes it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { newPeopleSync } from '../../../../test/people-api.ts'
import { FakeProvider } from '../../../../test/provider.ts'
import type { PreviewedRecord } from '../../../generated/contract.ts'
import { type JsonSchema, schemas } from '../../../platform/contract/document.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const values = ['', 'x'.repeat(5_000), 'nonsense', '1', 5.5, -1, 1e30, 0, true, ['a', 'b']]
const fieldsOf = (schema: string) => Object.keys((schemas[schema]?.properties ?? {}) as Record<string, JsonSchema>)
const paths = { company: '/api/companies', invoice: '/api/invoices' }
const wholes = { company: { name: 'Acme' }, invoice: {} }

/** What a caller is answered, by field. */
async function refusals(object: keyof typeof paths, body: object): Promise<string[]> {
	const answer = await server.ask('POST', paths[object], { body })
	const errors: { pointer: string; code: string; detail: string }[] = answer.status === 400 ? answer.body.errors : []
	return errors.map(({ pointer, code, detail }) => `${nameOf(pointer)} ${code} ${detail}`).sort()
}
const nameOf = (pointer: string) =>
	pointer
		.slice(1)
		.replaceAll(/\/(\d+)/g, '[$1]')
		.replaceAll('/', '.')
const said = (errors: PreviewedRecord['errors']) => errors.map(({ field, code, reason }) => `${field} ${code} ${reason}`).sort()

const nested = ['lineItems[0].quantity', 'lineItems[1].unitPriceCents', 'lineItems[0].taxes[0].percent', 'metadata.key']

it.each([
	['company', fieldsOf('CompanyCreate')],
	['invoice', [...fieldsOf('InvoiceInput'), ...nested]],
] as const)('every field of a %s', { timeout: 60_000 }, async (object, targets) => {
	const mapping = { name: 'Things', source: { system: 'http_json', object: 'things' }, target: { system: 'internal', object } }
	let compared = 0
	for (const target of targets) {
		const own = target === 'name' ? [] : Object.entries(wholes[object]).map(([name, constant]) => ({ target: name, constant }))
		const fields = [...own, { target, source: 'value' }]
		const created = await server.ask('POST', '/mappings', { body: { ...mapping, fields } })
		if (created.status !== 201) continue
		const records = values.map((value) => ({ value }))
		const { body } = await server.ask('POST', `/mappings/${created.body.id}/preview`, { body: { records } })
		for (const { output, errors } of body.data.records as PreviewedRecord[]) {
			const refused = output && (await refusals(object, output))
			if (!refused || refused.length === 0) continue
			expect([target, output[target], said(errors)]).toEqual([target, output[target], refused])
			compared++
		}
	}
	expect(compared).toBeGreaterThan(targets.length)
})

it('a run', async () => {
	const api = await new FakeProvider().start()
	api.answers([{ id: 1, name: '' }])
	const { id } = await newPeopleSync(server, api.url)
	await server.remit.syncs.run(id)
	await server.runJobs()
	const [run] = (await server.remit.syncs.runs.list(id)).data
	const [failed] = (await server.remit.syncs.runs.errors.list(id, run?.id as string)).data
	expect(said(failed?.errors ?? [])).toEqual(['name minLength must not be empty'])
	expect(said(failed?.errors ?? [])).toEqual(await refusals('company', { name: '' }))
	await api.stop()
})
