import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeProvider } from '../provider.ts'
import { caller, refreshForm } from './calls.ts'
import { FakeHubSpot } from './hubspot.ts'

const companies = '/crm/objects/2026-03/companies'
let vendor: FakeHubSpot
let call: ReturnType<typeof caller>

beforeEach(async () => {
	vendor = await new FakeHubSpot().start()
	call = caller(vendor)
})
afterEach(() => vendor.stop())

async function listAll(query = '', afterFirstPage?: () => void): Promise<string[]> {
	const ids: string[] = []
	let after: string | undefined
	do {
		const page = (await call('GET', `${companies}?limit=100${query}${after ? `&after=${after}` : ''}`)).json
		ids.push(...page.results.map(({ id }: { id: string }) => id))
		if (!after) afterFirstPage?.()
		after = page.paging?.next.after
	} while (after)
	return ids
}

const search = (body: object) => call('POST', `${companies}/search`, { body })
const changedSince = (time: number, operator = 'GTE') => ({
	filterGroups: [{ filters: [{ propertyName: 'hs_lastmodifieddate', operator, value: String(time) }] }],
	sorts: [{ propertyName: 'hs_lastmodifieddate', direction: 'ASCENDING' }],
})

it('pages show every company once, though one of them is archived meanwhile', async () => {
	const ids = vendor.seed('companies', 250)
	expect(await listAll()).toEqual(ids)
	const [first = ''] = ids
	const archive = () => vendor.companies.remove(first)
	expect(await listAll('', archive)).toEqual(ids)
	expect(await listAll()).toEqual(ids.slice(1))
	expect(await listAll('&archived=true')).toEqual([first])
})

it('answers the default properties or those asked for, as text, null without a value', async () => {
	const { id } = vendor.companies.put({ name: 'Ada', numberofemployees: 12 })
	const read = async (query = '') => (await call('GET', `${companies}/${id}${query}`)).json.properties
	expect(Object.keys(await read())).toEqual(['name', 'domain', 'createdate', 'hs_lastmodifieddate', 'hs_object_id'])
	expect(await read('?properties=numberofemployees,city,unknown')).toMatchObject({ numberofemployees: '12', city: null })
})

it('answers 404 to the versions before', async () => {
	expect((await call('GET', '/crm/v3/objects/companies')).status).toBe(404)
	expect((await call('POST', '/oauth/v1/token')).status).toBe(404)
})

it('a search stops at 10,000, and a window by id goes on', async () => {
	vendor.seed('companies', 10_300)
	const beyond = await search({ limit: 200, after: '10000' })
	expect([beyond.status, beyond.json.category]).toEqual([400, 'VALIDATION_ERROR'])
	const last = (await search({ limit: 200, after: '9800', sorts: ['hs_object_id'] })).json
	expect(last).toMatchObject({ total: 10_300, paging: { next: { after: '10000' } } })
	const filters = [{ propertyName: 'hs_object_id', operator: 'GT', value: last.results.at(-1).id }]
	expect((await search({ limit: 200, filterGroups: [{ filters }] })).json.total).toBe(300)
})

it('the search sees a change late, the list at once', async () => {
	let now = 1_000_000
	vendor.clock = () => now
	vendor.searchLagMs = 5_000
	const { id } = vendor.companies.put({ name: 'Before' })
	now += 60_000
	vendor.companies.change(id, { name: 'After' })
	expect((await call('GET', `${companies}/${id}`)).json.properties.name).toBe('After')
	expect((await search(changedSince(now))).json.total).toBe(0)
	expect((await search({})).json.results[0].properties.name).toBe('Before')
	now += 5_000
	expect((await search(changedSince(now - 5_000))).json.results[0].properties.name).toBe('After')
	expect((await search(changedSince(now - 5_000, 'GT'))).json.total).toBe(0)
})

it('a batch creates by a unique property, then updates, and a bad input is told apart', async () => {
	vendor.validationRule = ({ name }) => (name === 'Bad' ? 'The name is bad' : undefined)
	const input = (id: string, name: string) => ({
		id,
		idProperty: 'remit_company_id',
		objectWriteTraceId: id,
		properties: { name },
	})
	const upsert = (...inputs: object[]) => call('POST', `${companies}/batch/upsert`, { body: { inputs } })
	expect((await upsert(input('com_1', 'Ada'))).json.results[0].new).toBe(true)
	const { status, json } = await upsert(input('com_1', 'Ada Ltd'), input('com_2', 'Bad'))
	expect([status, json.results[0].new, json.numErrors]).toEqual([207, false, 1])
	expect(json.errors[0]).toMatchObject({ category: 'VALIDATION_ERROR', context: { objectWriteTraceId: ['com_2'] } })
	const { objectWriteTraceId, ...untraced } = input('com_3', 'Bad')
	expect((await upsert(input('com_4', 'Grace'), untraced)).status).toBe(400)
	expect(vendor.companies.list().map(({ data }) => data.name)).toEqual(['Ada Ltd'])
})

it('rejects an unknown token, an expired one, and calls beyond the limit', async () => {
	const { accessToken } = vendor.tokens.grant({ calls: 1 })
	expect((await call('GET', companies, { token: 'nobody' })).json.category).toBe('INVALID_AUTHENTICATION')
	expect((await call('GET', companies, { token: accessToken })).status).toBe(200)
	expect((await call('GET', companies, { token: accessToken })).json.category).toBe('EXPIRED_AUTHENTICATION')
	vendor.enforcesLimits = true
	vendor.allowances[1].max = 2
	const last = await call('GET', companies)
	expect([last.status, last.headers.get('x-hubspot-ratelimit-remaining')]).toEqual([200, '0'])
	expect((await call('GET', companies)).json.errorType).toBe('RATE_LIMIT')
})

it('a batch reads by id, and says what it did not find', async () => {
	const [id = ''] = vendor.seed('companies', 1)
	const body = { inputs: [{ id }, { id: '1' }], properties: ['name'] }
	const { status, json } = await call('POST', `${companies}/batch/read`, { body })
	expect([status, json.results[0].properties.name, json.numErrors]).toEqual([207, 'Company 1', 1])
})

it('a refresh token stays, and tells whether it is valid until it is revoked', async () => {
	const { refreshToken } = vendor.tokens.grant()
	const form = refreshForm(vendor, refreshToken)
	form.set('token', refreshToken)
	const post = async (path: string) => (await call('POST', `/oauth/2026-03/token${path}`, { token: null, body: form })).json
	expect(await post('')).toMatchObject({ refresh_token: refreshToken, expires_in: 1800, hub_id: vendor.portalId })
	expect(await post('/introspect')).toMatchObject({ active: true })
	await post('/revoke')
	expect(await post('/introspect')).toEqual({ active: false })
	expect(await post('')).toMatchObject({ error: 'invalid_grant' })
})

it('signs webhooks with their URL and time', async () => {
	const receiver = await new FakeProvider().start()
	const url = `${receiver.url}/connections/webhooks/hubspot`
	receiver.answer = async (request, response) => {
		const time = String(request.headers['x-hubspot-request-timestamp'])
		const signed = `POST${url}${Buffer.concat(await request.toArray())}${time}`
		const signature = createHmac('sha256', vendor.webhookSecret).update(signed).digest('base64')
		response.writeHead(request.headers['x-hubspot-signature-v3'] === signature ? 200 : 401).end()
	}
	vendor.seed('companies', 1)
	expect(await vendor.sendWebhooks(url)).toEqual([200])
	await receiver.stop()
})
