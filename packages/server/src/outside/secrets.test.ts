import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../base/errors.ts'
import { openSecrets } from './secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const tokens = (ENCRYPTION_KEYS: string, DATA_DIR = folder) => openSecrets({ ENCRYPTION_KEYS, DATA_DIR }).tokens('links', 'a')

describe('a token', () => {
	it('is the same for the same key, purpose and text, and another for any other', () => {
		const { tokens } = openSecrets({ ENCRYPTION_KEYS: keyOf(1), DATA_DIR: folder })
		expect(tokens('links', 'a')).toEqual(tokens('links', 'a'))
		const other = openSecrets({ ENCRYPTION_KEYS: keyOf(2), DATA_DIR: folder }).tokens('links', 'a')
		const all = [tokens('links', 'a'), tokens('links', 'b'), tokens('payments', 'a'), other].flat()
		expect(new Set(all).size).toBe(4)
		for (const token of all) expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/)
	})

	it('is made with the newest key, which stands last, and recognised with every older one', () => {
		const [old, next] = [tokens(keyOf(1)), tokens(keyOf(2))]
		expect(tokens(`${keyOf(1)},${keyOf(2)}`)).toEqual([...next, ...old])
		expect(tokens(` ${keyOf(1)} , ${keyOf(2)} `)).toEqual([...next, ...old])
	})
})

describe('the keys', () => {
	it.each(['x', keyOf(1).slice(4), `${keyOf(1)},`, `${keyOf(1)},${Buffer.alloc(33).toString('base64')}`])(
		'are refused when one is not 32 bytes: %j',
		(keys) => {
			expect(() => tokens(keys)).toThrow(ConfigError)
			expect(() => tokens(keys)).toThrow(/^ENCRYPTION_KEYS: each key must be 32 bytes as base64/)
		},
	)

	it('are made once in the folder, for its owner alone', () => {
		const fresh = join(folder, 'not', 'there')
		const made = tokens('', fresh)
		expect(tokens('', fresh)).toEqual(made)
		expect(readdirSync(fresh)).toEqual(['encryption-key'])
		expect(statSync(join(fresh, 'encryption-key')).mode & 0o777).toBe(0o600)
		expect(tokens(readFileSync(join(fresh, 'encryption-key'), 'utf8'), folder)).toEqual(made)
		expect(tokens('', join(folder, 'another'))).not.toEqual(made)
	})

	it('are the same for processes that make them at once', async () => {
		const shared = join(folder, 'shared')
		const script = `const { openSecrets } = await import(process.argv[1])
			console.log(openSecrets({ ENCRYPTION_KEYS: '', DATA_DIR: process.argv[2] }).tokens('links', 'a')[0])`
		const module = new URL('secrets.ts', import.meta.url).href
		const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, module, shared])
		const printed = (await Promise.all([run(), run(), run(), run()])).map(({ stdout }) => stdout.trim())
		expect(printed).toEqual(Array(4).fill(tokens('', shared)[0]))
		expect(readdirSync(shared)).toEqual(['encryption-key'])
	})

	it('are not replaced when their file is broken or cannot be read', () => {
		const broken = join(folder, 'broken')
		mkdirSync(broken)
		writeFileSync(join(broken, 'encryption-key'), '')
		expect(() => tokens('', broken)).toThrow(`${broken}/encryption-key: each key must be 32 bytes as base64`)
		expect(readFileSync(join(broken, 'encryption-key'), 'utf8')).toBe('')
		mkdirSync(join(folder, 'odd', 'encryption-key'), { recursive: true })
		expect(() => tokens('', join(folder, 'odd'))).toThrow(/^DATA_DIR: .*cannot be used.*or set ENCRYPTION_KEYS$/)
	})

	it('cannot be made when DATA_DIR is not a folder', () => {
		const file = join(folder, 'file')
		writeFileSync(file, '')
		expect(() => tokens('', file)).toThrow(ConfigError)
	})
})
