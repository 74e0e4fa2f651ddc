// The providers that Remit knows.
import { httpJson } from './http-json.ts'
import { hubspot } from './hubspot.ts'
import type { CallLimit, Manifest, ObjectManifest } from './manifest.ts'
import { stripe } from './stripe.ts'
import { xero } from './xero.ts'

export const providers: readonly Manifest[] = [hubspot, xero, stripe, httpJson]

const byId = new Map(providers.map((manifest) => [manifest.id, manifest]))

export const findProvider = (id: string): Manifest | undefined => byId.get(id)

/** Whether records are found by the values of a path among these fields; `properties.*` is each field below properties. */
export const isLookedUpBy = (fields: readonly string[], path: string): boolean =>
	fields.some((known) =>
		known.endsWith('*') ? path.startsWith(known.slice(0, -1)) && !path.slice(known.length - 1).includes('.') : known === path,
	)

/** The manifest of a provider that a stored connection has. */
export function manifestOf({ provider }: { readonly provider: string }): Manifest {
	const manifest = findProvider(provider)
	if (!manifest) throw new Error(`the provider ${provider} is gone`)
	return manifest
}

/** What is wrong with a manifest, beyond what its type says. */
export function mistakesIn({ id, apiVersion, baseUrl, authTypes, oauth, test, objects, ...manifest }: Manifest): string[] {
	const mistakes: string[] = []
	const names = objects.map(({ name }) => name)
	if (!/^[a-z][a-z0-9_]*$/.test(id)) mistakes.push('its id is not snake_case')
	if (baseUrl !== '' && (!/^https:\/\/[^/]+$/.test(baseUrl) || !URL.canParse(baseUrl)))
		mistakes.push('baseUrl is no https origin')
	if (authTypes.includes('oauth2') !== (oauth !== null)) mistakes.push('it has oauth2 without its URLs, or these without oauth2')
	if (oauth && [oauth.authorizationUrl, oauth.tokenUrl].some((url) => !url.startsWith('https://')))
		mistakes.push('a URL of OAuth is not https')
	if (!test.path.startsWith('/')) mistakes.push('the path of its test does not begin with /')
	if (new Set(names).size < names.length) mistakes.push('two objects have one name')
	const headers = [manifest.accountHeader, manifest.idempotencyHeader?.name, ...manifest.limits.flatMap(headersOf)]
	if (headers.some((name) => name !== name?.toLowerCase())) mistakes.push('a header is not in lower case')
	for (const object of objects) {
		const { name, idField, fields } = object
		if (pathsOf(object).some((path) => apiVersion === null || !path.split('/').includes(apiVersion)))
			mistakes.push(`a path of ${name} is without apiVersion`)
		mistakes.push(...mistakesOf(object))
		if (!fields.some((field) => field.path === idField)) mistakes.push(`${name} has no field ${idField}`)
		if (new Set(fields.map((field) => field.path)).size < fields.length) mistakes.push(`two fields of ${name} have one path`)
	}
	return mistakes
}

const headersOf = ({ remaining, reset }: CallLimit) => [remaining, reset?.header ?? remaining]

const aboutOne = ({ one, writes, removal }: ObjectManifest) =>
	[one, writes?.update?.path, removal?.style === 'delete' ? removal.path : undefined].filter((path) => path != null)

const pathsOf = (object: ObjectManifest) => [
	...[object.path, ...aboutOne(object), object.writes?.create?.path ?? object.path],
	...[object.changes, object.lookUp, object.schema].flatMap((part) => (part && 'path' in part ? [part.path] : [])),
]

/** What is wrong with how an object is read and written. */
function mistakesOf(object: ObjectManifest): string[] {
	const { name, changes, changedField, pagination, pageSize, writes, removal } = object
	const mistakes: string[] = []
	if (aboutOne(object).some((path) => path.split('{id}').length !== 2)) mistakes.push(`a path of ${name} is without {id}`)
	if (changes && changedField === null) mistakes.push(`${name} tells changes, and not when they were`)
	if (changes?.style === 'if_modified_since' && pagination.style !== 'page') mistakes.push(`${name} has windows without pages`)
	if (removal?.style === 'status' && !writes?.update) mistakes.push(`${name} is removed by an update, and has none`)
	if (writes?.answersPart && object.one === null) mistakes.push(`${name} cannot be read after it was written`)
	if (pageSize && !(pageSize.most > 0)) mistakes.push(`the pages of ${name} are empty`)
	return mistakes
}

// A server with a broken manifest must not start.
for (const manifest of providers) {
	const [mistake] = mistakesIn(manifest)
	if (mistake !== undefined) throw new Error(`The manifest of ${manifest.id} is broken: ${mistake}.`)
}
