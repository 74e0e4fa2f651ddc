// PUT is PATCH: an operation with `@alsoPut` is in the document twice.
import type { OpenApiDocument, Operation } from './openapi.ts'

/** Takes `x-also-put` out of the operations, and writes the PUT of each that has it, after its PATCH. */
export function writeAliases(document: OpenApiDocument): void {
	for (const [path, { patch, ...others }] of Object.entries(document.paths)) {
		const more = patch?.['x-also-put']
		if (!patch || more === undefined) continue
		delete patch['x-also-put']
		const { get, ...rest } = others
		document.paths[path] = { ...(get && { get }), patch, put: aliasOf(patch, more), ...rest }
	}
}

function aliasOf(patch: Operation, more: string): Operation {
	const { operationId, summary, description, parameters, responses, tags, requestBody, ...marks } = structuredClone(patch)
	return {
		operationId: operationId.replace(/\.update$/, '.replace'),
		summary: `${summary} (PUT)`,
		description: ['The same as PATCH: only the fields that are present change.', more].join(' ').trimEnd(),
		...(parameters && { parameters }),
		responses,
		tags,
		...(requestBody && { requestBody }),
		'x-alias-of': operationId,
		...marks,
	}
}
