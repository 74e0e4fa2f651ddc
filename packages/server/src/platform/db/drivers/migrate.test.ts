import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ConfigError } from '../../base/errors.ts'
import { migrate, requireIndexed } from './migrate.ts'

const files = readdirSync(join(import.meta.dirname, '../../../../migrations'))

it('A migration that the index lacks stops the start, and is named', () => {
	expect(() => requireIndexed([...files, '0999-notes.ts'])).toThrow(ConfigError)
	expect(() => requireIndexed([...files, '0999-notes.ts'])).toThrow('migrations/index.ts lacks 0999-notes.ts: run pnpm generate')
})

it('A start with such a migration changes no database', async () => {
	const file = join(mkdtempSync(join(tmpdir(), 'remit-migrate-')), 'remit.db')
	await expect(migrate({ sqliteFile: file }, 'upgrade', { files: [...files, '0999-notes.ts'] })).rejects.toThrow('0999-notes.ts')
	expect(existsSync(file)).toBe(false)
	rmSync(dirname(file), { recursive: true })
})

it('The index lists every migration', () => {
	expect(() => requireIndexed(files)).not.toThrow()
})
