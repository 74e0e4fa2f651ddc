import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ConfigError } from '../base/errors.ts'
import { requireIndexed } from './migrate.ts'

const files = readdirSync(join(import.meta.dirname, '../../migrations'))

it('A migration that the index lacks stops the start, and is named', () => {
	expect(() => requireIndexed([...files, '0999-notes.ts'])).toThrow(ConfigError)
	expect(() => requireIndexed([...files, '0999-notes.ts'])).toThrow('migrations/index.ts lacks 0999-notes.ts: run pnpm generate')
})

it('The index lists every migration', () => {
	expect(() => requireIndexed(files)).not.toThrow()
})
