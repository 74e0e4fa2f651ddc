import type { Program } from '@typespec/compiler'
import { expect, it } from 'vitest'
import { findForgotten } from './forgotten.ts'

/** The part of a compiled program that is looked at: notes.tsp is imported, its operations have a route or not. */
const program = (...extended: string[]) =>
	({
		sourceFiles: new Map([
			['/spec/main.tsp', {}],
			['/spec/billing/notes.tsp', {}],
		]),
		getGlobalNamespaceType: () => ({
			namespaces: new Map([
				['Remit', { interfaces: new Map([['Notes', { sourceInterfaces: extended.map((name) => ({ name })) }]]) }],
				['Operations', { interfaces: new Map([['Notes', {}]]) }],
			]),
		}),
	}) as unknown as Program

it('Nothing is forgotten when every file is imported and every interface has a route', () => {
	expect(findForgotten(program('Notes'), ['billing/notes.tsp'])).toEqual([])
})

it('A file that main.tsp does not import is named', () => {
	expect(findForgotten(program('Notes'), ['billing/notes.tsp', 'billing/tags.tsp'])).toEqual([
		'spec/billing/tags.tsp: main.tsp does not import it',
	])
})

it('An interface of operations without a route is named', () => {
	expect(findForgotten(program(), ['billing/notes.tsp'])).toEqual([
		expect.stringMatching(/^Operations\.Notes: main\.tsp gives it no route/),
	])
})
