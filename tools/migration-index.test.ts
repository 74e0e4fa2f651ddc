import { expect, it } from 'vitest'
import { writeMigrationIndex } from './migration-index.ts'

it('The index imports every migration in the order of the numbers', () => {
	const index = writeMigrationIndex(['0002-api-keys.ts', 'index.ts', 'migration.ts', '0001-organizations.ts'])
	expect(index.match(/\{ name: '.*/g)).toEqual([
		"{ name: '0001-organizations', ...organizations },",
		"{ name: '0002-api-keys', ...apiKeys },",
	])
})

it.each([
	[['0001-organizations.ts', '0001-notes.ts'], 'packages/server/migrations/0001-organizations.ts: its number must be 0002'],
	[['0001-organizations.ts', '0003-notes.ts'], 'packages/server/migrations/0003-notes.ts: its number must be 0002'],
])('A migration number that is taken or leaves a gap stops the generator: %j', (files, message) => {
	expect(() => writeMigrationIndex(files)).toThrow(message)
})
