// The fields of an object, as its provider tells them.
import { hash } from 'node:crypto'
import type { ProviderField } from '../../../generated/contract.ts'
import { valueAt } from '../values.ts'
import { callProvider, type Target } from './call.ts'
import type { ObjectSchema, RecordContext } from './types.ts'
import { notAnswered } from './values.ts'

/** A field, and its type in the provider's own words: another one is another schema. */
type Field = ProviderField & { readonly own: string }

const mostFields = 5_000

export async function schemaOf(context: RecordContext, target: Target): Promise<ObjectSchema> {
	const { object } = target
	const { name, idField } = object
	const told = object.schema ? await toldFields(context, target) : []
	const known = object.fields.filter(({ path }) => !object.schema || !path.startsWith(object.schema.prefix))
	const all = [...known.map((field) => ({ ...field, own: field.type })), ...told].slice(0, mostFields)
	const texts = all.map(({ path, own }) => JSON.stringify([path, own])).sort()
	const fields = all.map(({ path, type }) => ({ path, type }))
	const allBelow = all.length < mostFields ? (object.schema?.prefix ?? null) : null
	const lookUpFields = object.lookUp?.fields ?? []
	return { name, idField, fields, allBelow, lookUpFields, hash: hash('sha256', texts.join('\n')) }
}

async function toldFields(context: RecordContext, target: Target): Promise<Field[]> {
	const { schema } = target.object
	if (!schema) return []
	const { json } = await callProvider(context, target, { method: 'GET', effect: 'read', path: schema.path })
	const list = valueAt(json, schema.records)
	if (!Array.isArray(list)) throw notAnswered(`list ${schema.records}`)
	return list.flatMap((field) => {
		const [name, type] = [valueAt(field, 'name'), valueAt(field, 'type')]
		if (typeof name !== 'string' || typeof type !== 'string') return []
		return [{ path: schema.prefix + name, type: schema.times.includes(type) ? 'datetime' : 'string', own: type }]
	})
}
