// Who may call an operation: the scopes of `@scopes` and `@anyScope` stand in `security`, beside the schemes that take them.
import { type JsonObject, type OpenApiDocument, type Operation, operationsOf } from './openapi.ts'

/** The schemes of keys, which have scopes; a person has a role. */
const keySchemes = ['BearerKey', 'HeaderKey']

/** Takes `x-scopes` and `x-any-scope` out of the operations, and writes the `security` of each operation that has one. */
export function writeSecurity(document: OpenApiDocument): void {
	for (const operation of operationsOf(document)) {
		const { 'x-scopes': all, 'x-any-scope': some, security } = operation
		delete operation['x-scopes']
		delete operation['x-any-scope']
		// The emitter writes "needs no key" as an alternative without a scheme.
		if (JSON.stringify(security) === '[{}]') operation.security = []
		const alternatives = all ? [all] : some?.map((scope) => [scope])
		if (!alternatives) continue
		if (security) throw new Error(`${operation.operationId}: it has @scopes, and takes no keys by its @useAuth`)
		operation.security = [
			...alternatives.flatMap((scopes) => keySchemes.map((scheme) => ({ [scheme]: scopes }))),
			{ SessionCookie: [] },
		]
	}
}

const alternativesOf = ({ security = [] }: Operation): string[][] =>
	security.flatMap((alternative: JsonObject) => (alternative.BearerKey ? [alternative.BearerKey as string[]] : []))

/** The scopes of a key that may call an operation. */
export const scopesOf = (operation: Operation): string[] => [...new Set(alternativesOf(operation).flat())]

/** Whether one of its scopes is enough. */
export const needsAnyScope = (operation: Operation): boolean => alternativesOf(operation).length > 1
