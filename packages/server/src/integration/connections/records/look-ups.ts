// Records by the values of their fields.
import type { LookUp } from '../providers/manifest.ts'
import { isLookedUpBy } from '../providers/providers.ts'
import { valueAt } from '../values.ts'
import { callProvider, type ProviderAnswer, type Target } from './call.ts'
import { askedOf, fieldQuery, listQuery } from './pages.ts'
import { CannotFind, type ExternalRecord, type RecordContext } from './types.ts'
import { recordsIn } from './values.ts'
import { postSearch } from './windows.ts'

type By = Readonly<Record<string, string>>

/** A person who has to choose among several is told no more. */
const most = 10

export async function lookUp(
	context: RecordContext,
	target: Target,
	by: By,
	fields: readonly string[],
): Promise<ExternalRecord[]> {
	const { object, manifest } = target
	const found = object.lookUp
	const unknown = Object.keys(by).find((path) => !isLookedUpBy(found?.fields ?? [], path))
	if (!found || unknown !== undefined || Object.keys(by).length === 0)
		throw new CannotFind(`${manifest.name} has no look-up of ${object.name} by ${unknown ?? 'nothing'}.`)
	const answer = await ask(context, target, found, by, fields)
	const records = await recordsIn(object, answer.json)
	const same = records.filter(({ data }) => Object.entries(by).every(([path, value]) => isSame(valueAt(data, path), value)))
	// A list that is not filtered says nothing of the records on its other pages.
	if (found.style === 'parameters' && same.length < records.length)
		throw new CannotFind(`${manifest.name} does not look up ${object.name} by ${Object.keys(by).join(' and ')}.`)
	return same.slice(0, most)
}

/** Some look-ups of text take no notice of case. */
const isSame = (found: unknown, value: string) =>
	found != null && !(found instanceof Object) && String(found).toLowerCase() === value.toLowerCase()

function ask(context: RecordContext, target: Target, found: LookUp, by: By, fields: readonly string[]): Promise<ProviderAnswer> {
	const { object } = target
	const entries = Object.entries(by)
	if (found.style === 'search')
		return postSearch(context, target, found.path, {
			filterGroups: [
				{
					filters: entries.map(([path, value]) => ({
						propertyName: askedOf({ ...object, changedField: null }, [path])[0],
						operator: 'EQ',
						value,
					})),
				},
			],
			properties: askedOf(object, [...fields, ...Object.keys(by)]),
			limit: 10,
		})
	const get = (path: string, query: Readonly<Record<string, string>>) =>
		callProvider(context, target, { method: 'GET', effect: 'read', path, query: { ...fieldQuery(object, fields), ...query } })
	if (found.style === 'parameters') return get(object.path, { ...listQuery(object, fields), ...by })
	if (found.style === 'where') {
		const where = entries.map(([path, value]) => `${path}=="${unquoted(value)}"`).join(' AND ')
		return get(object.path, { ...object.query, where })
	}
	const query = entries.map(([path, value]) => `${path}:'${value.replaceAll(/['\\]/g, '\\$&')}'`).join(' AND ')
	return get(found.path, { query, limit: '10' })
}

/** No quote can be written in a `where` of Xero. */
function unquoted(value: string): string {
	if (/["\\\p{Cc}]/u.test(value)) throw new CannotFind('Xero has no look-up of a text with quotes.')
	return value
}
