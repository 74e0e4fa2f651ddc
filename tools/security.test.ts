import { expect, it } from 'vitest'
import type { OpenApiDocument, Operation } from './openapi.ts'
import { needsAnyScope, scopesOf, writeSecurity } from './security.ts'

function written(more: Partial<Operation>): Operation {
	const operation = { operationId: 'a.get', summary: '', description: '', tags: [], responses: {}, ...more }
	const document: OpenApiDocument = {
		openapi: '3.1.0',
		info: { title: '', version: '' },
		paths: { '/a': { get: operation } },
		components: { schemas: {} },
	}
	writeSecurity(document)
	return operation
}

it('demands all scopes of @scopes, by each scheme of keys, and none of a session', () => {
	const operation = written({ 'x-scopes': ['a:read', 'b:read'] })
	const both = ['a:read', 'b:read']
	expect(operation.security).toEqual([{ BearerKey: both }, { HeaderKey: both }, { SessionCookie: [] }])
	expect(operation).not.toHaveProperty('x-scopes')
	expect(scopesOf(operation)).toEqual(both)
	expect(needsAnyScope(operation)).toBe(false)
})

it('has an alternative for each scope of @anyScope', () => {
	const operation = written({ 'x-any-scope': ['a:read', 'b:read'] })
	const alternatives = ['a:read', 'b:read'].flatMap((scope) => [{ BearerKey: [scope] }, { HeaderKey: [scope] }])
	expect(operation.security).toEqual([...alternatives, { SessionCookie: [] }])
	expect(scopesOf(operation)).toEqual(['a:read', 'b:read'])
	expect(needsAnyScope(operation)).toBe(true)
})

it('leaves what needs no key, or a session alone, and rejects scopes of it', () => {
	expect(written({ security: [{}] }).security).toEqual([])
	expect(written({ security: [{ SessionCookie: [] }] }).security).toEqual([{ SessionCookie: [] }])
	expect(() => written({ security: [{}], 'x-scopes': ['a:read'] })).toThrow('a.get: it has @scopes, and takes no keys')
})
