// Moves what the emitter writes out in every operation into `components`: responses and headers that occur more than once.
import { STATUS_CODES } from 'node:http'
import { codesOf } from './error-answers.ts'
import { type OpenApiDocument, operationsOf, type Response } from './openapi.ts'
import { pascal } from './sdk-methods.ts'

/** A response or a header that occurs more than once gets a component, and each of its places a reference. */
export function shareAnswers(document: OpenApiDocument): void {
	const { components } = document
	const responses = operationsOf(document).flatMap(({ operationId, responses }) =>
		Object.entries(responses).flatMap(([status, response]) =>
			'$ref' in response ? [] : [{ operationId, status, response, within: responses }],
		),
	)
	for (const [text, places] of Map.groupBy(responses, ({ response }) => JSON.stringify(response))) {
		const [{ operationId, status, response }] = places as [(typeof places)[number]]
		if (places.length === 1) continue
		const name = responseName(operationId, status, response)
		components.responses ??= {}
		const taken = components.responses[name]
		if (taken) throw new Error(`two responses have the name ${name}: ${JSON.stringify(taken)} and ${text}`)
		components.responses[name] = response
		for (const place of places) place.within[place.status] = { $ref: `#/components/responses/${name}` }
	}
	shareHeaders(document)
}

function shareHeaders({ paths, components }: OpenApiDocument): void {
	components.headers ??= {}
	const inPaths = Object.values(paths).flatMap((methods) =>
		Object.values(methods).flatMap(({ responses }) => Object.values(responses)),
	)
	const all = [...Object.values(components.responses ?? {}), ...inPaths] as Response[]
	const found = all.flatMap(({ headers = {} }) => Object.entries(headers).map(([name, header]) => ({ name, header, headers })))
	const inline = found.filter(({ header }) => !header.$ref)
	for (const places of Map.groupBy(inline, ({ name, header }) => name + JSON.stringify(header)).values()) {
		const [{ name, header }] = places as [(typeof places)[number]]
		if (places.length === 1 || components.headers[name]) continue
		components.headers[name] = header
		for (const { headers } of places) headers[name] = { $ref: `#/components/headers/${name}` }
	}
}

/**
 * An error has the name of its codes, and when they are many that of its status in the first operation that has it; another answer that of
 * its model or file with the headers that are its own: `OkWithETag`.
 */
function responseName(operationId: string, status: string, response: Response): string {
	const { headers = {}, content = {} } = response
	const codes = codesOf(response)
	const [[type, media] = []] = Object.entries(content)
	const statusName = (STATUS_CODES[status] ?? status).replace(/\W/g, '')
	if (codes.length > most) return `${statusName}Of${pascal(operationId.split('.'))}`
	if (codes.length > 0) return codes.map((code) => pascal(code.split('_'))).join('Or')
	if (Number(status) >= 400 || !type) return statusName
	const body = (media?.schema.$ref as string | undefined) ?? pascal([type.split('/').at(-1) as string])
	const own = Object.entries(headers).flatMap(([name, { $ref }]) => ($ref ? [] : name.replace(/\W/g, '')))
	return body.split('/').at(-1) + (own.length > 0 ? `With${own.join('And')}` : '')
}

/** How many codes a name lists. */
const most = 4
