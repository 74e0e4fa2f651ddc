// The object of a connection: the manifest of its provider has it, or for an API that the connection describes its config.
import type { Connection, ConnectionObject, ObjectPagination } from '../../../generated/contract.ts'
import type { ObjectManifest, Pagination } from '../providers/manifest.ts'
import { manifestOf } from '../providers/providers.ts'
import { UnknownObject } from './types.ts'

type Described = Pick<Connection, 'provider' | 'config'>

/** Throws UnknownObject. */
export function objectOf(connection: Described, name: string): ObjectManifest {
	const manifest = manifestOf(connection)
	const described = connection.config.objects?.find((object) => object.name === name)
	const object = described ? manifestOfObject(described) : manifest.objects.find((one) => one.name === name)
	if (!object) throw new UnknownObject(`The connection has no object ${name}.`)
	return object
}

function manifestOfObject(object: ConnectionObject): ObjectManifest {
	const { name, path, idField, changedField, sinceParameter, readPath, create, update, remove, wrap, pageSize } = object
	const format = object.changedFormat ?? 'iso'
	const changes = sinceParameter === undefined ? null : ({ style: 'parameter', parameter: sinceParameter, format } as const)
	const one = readPath ?? null
	return {
		...{ name, path, idField, scopes: [], records: object.records ?? '', one },
		changedField: changedField ?? null,
		changedFormat: format,
		changes,
		pagination: paginationOf(object.pagination),
		pageSize: pageSize ? { parameter: pageSize.parameter, most: pageSize.size } : null,
		envelope: wrap === undefined ? null : { name: wrap, list: false },
		writes:
			create || update
				? { create: create ?? null, update: update ?? null, encoding: 'json', replacesObjects: true, answersPart: one !== null }
				: null,
		removal: remove ? { style: 'delete', ...remove } : null,
		lookUp: object.lookUpFields?.length ? { style: 'parameters', fields: object.lookUpFields, lagMs: 0 } : null,
		deletion: object.deletedField === undefined ? null : { field: object.deletedField, values: 'any' },
		schema: null,
		fields: object.fields ?? [],
	}
}

function paginationOf({ style, parameter = '', next = '', first }: ObjectPagination): Pagination {
	if (style === 'cursor') return { style, parameter, next }
	if (style === 'page') return { style, parameter, ...(first !== undefined && { first }) }
	return style === 'offset' ? { style, parameter } : { style }
}
