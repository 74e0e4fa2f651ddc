import { expect, it } from 'vitest'
import { schemas } from '../../../platform/contract/document.ts'
import { hubspot } from './hubspot.ts'
import { mistakesIn, providers } from './providers.ts'

const oauth = hubspot.oauth as NonNullable<typeof hubspot.oauth>
const [companies] = hubspot.objects as [(typeof hubspot.objects)[0]]

it('The contract names all providers, in the filter of connections', () => {
	expect(schemas.ProviderName).toMatchObject({ enum: providers.map(({ id }) => id) })
})

it.each(providers.map((manifest) => [manifest.id, manifest] as const))('the manifest of %s has no mistake', (_, manifest) => {
	expect(mistakesIn(manifest)).toEqual([])
})

it.each([
	['a path of companies is without apiVersion', { objects: [{ ...companies, path: '/crm/v3/objects/companies' }] }],
	['two objects have one name', { objects: [companies, companies] }],
	['companies has no field uuid', { objects: [{ ...companies, idField: 'uuid' }] }],
	['baseUrl is no https origin', { baseUrl: 'http://api.hubapi.com' }],
	['the path of its test does not begin with /', { test: { path: 'account' } }],
	['it has oauth2 without its URLs, or these without oauth2', { oauth: null }],
	['a URL of OAuth is not https', { oauth: { ...oauth, tokenUrl: 'http://api.hubapi.com' } }],
	['a header is not in lower case', { limits: [{ remaining: 'X-Remaining', pauseMs: 1 }] }],
	['a path of companies is without {id}', { objects: [{ ...companies, one: companies.path }] }],
	['companies tells changes, and not when they were', { objects: [{ ...companies, changedField: null }] }],
	['companies cannot be read after it was written', { objects: [{ ...companies, one: null }] }],
	['its id is not snake_case', { id: 'Hub Spot' }],
])('a manifest is broken when %s', (mistake, change) => {
	expect(mistakesIn({ ...hubspot, ...change })).toEqual([mistake])
})
