// The OpenAPI document, from which the server builds its routes and validators at run time.
import document from '../generated/openapi.json' with { type: 'json' }

export type JsonSchema = { [keyword: string]: unknown }

export interface ContractParameter {
	readonly name: string
	readonly in: 'query' | 'path' | 'header'
	readonly required?: boolean
	readonly schema: JsonSchema
}

export interface ContractOperation {
	readonly operationId: string
	readonly parameters: readonly ContractParameter[]
	readonly requestBody?: { readonly required?: boolean; readonly content: Record<string, { readonly schema: JsonSchema }> }
	readonly responses: Record<
		string,
		{
			readonly headers: Record<string, { $ref?: string; required?: boolean }>
			readonly content?: Record<string, { schema: JsonSchema }>
		}
	>
}

/** A copy of the document, because the validators change the one that they are given. */
export function contractDocument() {
	return structuredClone(document)
}

export const documentText = JSON.stringify(document)

export const { version } = document.info

export const schemas: Record<string, JsonSchema> = document.components.schemas

const parameters: Record<string, unknown> = document.components.parameters

/** Every operation by its id, with references to parameters resolved. */
export const contractOperations: ReadonlyMap<string, ContractOperation> = new Map(
	Object.values(document.paths)
		.flatMap((methods) => Object.values(methods))
		.map((operation) => [operation.operationId, { ...operation, parameters: operation.parameters?.map(resolve) ?? [] }]),
)

function resolve(parameter: object): ContractParameter {
	if (!('$ref' in parameter)) return parameter as ContractParameter
	return parameters[String(parameter.$ref).replace('#/components/parameters/', '')] as ContractParameter
}
