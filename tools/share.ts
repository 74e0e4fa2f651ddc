// Moves what the emitter writes out in every operation into `components`: responses and headers that occur more than once.
import { STATUS_CODES } from 'node:http'
import { type OpenApiDocument, operationsOf, type Response } from './openapi.ts'
import { pascal } from './sdk-methods.ts'

/** A response or a header that occurs more than once gets a component, and each of its places a reference. */
export function shareAnswers(document: OpenApiDocument): void {
	const { components } = document
	const responses = operationsOf(document).flatMap(({ responses }) =>
		Object.entries(responses).flatMap(([status, response]) =>
			'$ref' in response ? [] : [{ status, response, within: responses }],
		),
	)
	for (const [text, places] of Map.groupBy(responses, ({ response }) => JSON.stringify(response))) {
		const [{ status, response }] = places as [(typeof places)[number]]
		if (places.length === 1) continue
		const name = responseName(status, response)
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

/** An error has the name of its status, another answer that of its model or file with the headers that are its own: `OkWithETag`. */
function responseName(status: string, { headers = {}, content = {} }: Response): string {
	const [[type, media] = []] = Object.entries(content)
	if (Number(status) >= 400 || !type) return (STATUS_CODES[status] ?? status).replace(/\W/g, '')
	const body = (media?.schema.$ref as string | undefined) ?? pascal(type.split('/').slice(1))
	const own = Object.entries(headers).flatMap(([name, { $ref }]) => ($ref ? [] : name.replace(/\W/g, '')))
	return body.split('/').at(-1) + (own.length > 0 ? `With${own.join('And')}` : '')
}
