// Says the unit of a field where the field is described: readers see the description of a field, and seldom that of its type.
import type { JsonObject, OpenApiDocument } from './openapi.ts'

/** Adds the `x-unit` of a field's type to the description of each field of the schemas and of each parameter. */
export function describeUnits({ components: { schemas, parameters = {} }, paths }: OpenApiDocument): void {
	const describe = (field: JsonObject, type: JsonObject = field) => {
		const unit = unitOf(schemas, type)
		if (unit && typeof field.description === 'string') field.description = withUnit(field.description, unit)
	}
	for (const { properties = {} } of Object.values(schemas)) {
		for (const property of Object.values(properties as Record<string, JsonObject>)) describe(property)
	}
	const inPaths = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ parameters: own = [] }) => own))
	for (const parameter of [...Object.values(parameters), ...inPaths]) {
		if ('in' in parameter) describe(parameter as unknown as JsonObject, parameter.schema)
	}
}

/** That of the type, or of the type in its list or besides its null. */
function unitOf(schemas: Record<string, JsonObject>, { $ref, anyOf = [], items }: JsonObject): string | undefined {
	const named = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) as string] : undefined
	if (named) return named['x-unit'] as string | undefined
	const others = (anyOf as JsonObject[]).filter(({ type }) => type !== 'null')
	const [only = items as JsonObject | undefined, ...more] = others
	return only && more.length === 0 ? unitOf(schemas, only) : undefined
}

/** One sentence gets the unit as its end, several get another one. */
export function withUnit(description: string, unit: string): string {
	if (/minor unit|millisecond|RFC 3339|percent|decimal text/i.test(description)) return description
	const [, sentence] = /^([^.;:]+)\.$/.exec(description) ?? []
	return sentence ? `${sentence}, ${unit}.` : `${description} It is ${unit}.`
}
