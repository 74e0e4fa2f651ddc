import { expect, it } from 'vitest'
import { faultsOf, mutantsOf } from './mutants.ts'

const mutants = mutantsOf()

it('lists mutants that can be run', () => {
	expect(mutants.flatMap(faultsOf)).toEqual([])
})

it('gives each mutant an id of its own', () => {
	const ids = mutants.map(({ id }) => id)
	expect(ids.filter((id, at) => ids.indexOf(id) < at || !/^[a-z0-9]+(-[a-z0-9]+)+$/.test(id))).toEqual([])
})

it('says which contexts and kinds there are', () => {
	expect(() => mutantsOf({ context: 'shop' })).toThrow('there is no context shop, only platform, accounts')
	expect(() => mutantsOf({ kind: 'luck' })).toThrow('there is no kind luck, only money')
	expect(() => mutantsOf({ id: 'nothing' })).toThrow('there is no such mutant')
})
