import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../base/errors.ts'
import { sealedColumns } from './sealed-columns.ts'
import { openSecrets } from './secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const open = (ENCRYPTION_KEYS: string, DATA_DIR = folder) => openSecrets({ ENCRYPTION_KEYS, DATA_DIR })
const tokens = (ENCRYPTION_KEYS: string, DATA_DIR = folder) => [...open(ENCRYPTION_KEYS, DATA_DIR).tokens('links', 'a').values()]

describe('a token', () => {
	it('is the same for the same key, purpose and text, and another for any other', () => {
		const { tokens } = open(keyOf(1))
		expect(tokens('links', 'a')).toEqual(tokens('links', 'a'))
		const other = open(keyOf(2)).tokens('links', 'a')
		const all = [tokens('links', 'a'), tokens('links', 'b'), tokens('payments', 'a'), other].flatMap((made) => [...made.values()])
		expect(new Set(all).size).toBe(4)
		for (const token of all) expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/)
	})

	it('is made with the first key, and recognised with every other one', () => {
		const [old, next] = [tokens(keyOf(1)), tokens(keyOf(2))]
		expect(tokens(`${keyOf(2)},${keyOf(1)}`)).toEqual([...next, ...old])
		expect(tokens(` ${keyOf(2)} , ${keyOf(1)} `)).toEqual([...next, ...old])
	})
})

describe('a sealed value', () => {
	const { webhookSecret, previousWebhookSecret, webhookHeaders, paymentCredentials } = sealedColumns
	const row = { organizationId: 'org_a', id: 'whe_a' }

	it('names the key that sealed it, which is the first, and opens with any list that has the key', () => {
		const [first, second] = [open(keyOf(1)), open(`${keyOf(2)},${keyOf(1)}`)]
		expect(second.keyIds).toEqual([open(keyOf(2)).keyIds[0], first.keyIds[0]])
		for (const id of second.keyIds) expect(id).toMatch(/^[0-9a-f]{8}$/)
		const [old, sealed] = [first.seal(webhookSecret, row, 'ü'), second.seal(webhookSecret, row, 'ü')]
		expect([old, sealed].map((text) => text.split('.')[0])).toEqual([first.keyIds[0], second.keyIds[0]])
		expect([old, sealed].map((text) => second.unseal(webhookSecret, row, text))).toEqual(['ü', 'ü'])
		expect(first.unseal(webhookSecret, row, sealed)).toBeUndefined()
		expect(second.open(webhookSecret, row, old)).toEqual({ text: 'ü', keyId: first.keyIds[0] })
	})

	it('does not open in another row, column or table, nor cut or changed', () => {
		const { seal, unseal } = open(keyOf(1))
		const sealed = seal(webhookSecret, row, 'whsec_a')
		const others = [
			unseal(webhookSecret, { ...row, id: 'whe_b' }, sealed),
			unseal(webhookSecret, { ...row, organizationId: 'org_b' }, sealed),
			unseal(previousWebhookSecret, row, sealed),
			unseal(webhookHeaders, row, sealed),
			unseal(paymentCredentials, { organizationId: 'org_a' }, sealed),
			...[sealed.slice(0, -1), sealed.slice(0, 20), sealed.slice(0, 9), '', '.', sealed.slice(9)].map((text) =>
				unseal(webhookSecret, row, text),
			),
			unseal(
				webhookSecret,
				row,
				sealed.replace(/\.(.)/, (_, letter) => (letter === 'A' ? '.B' : '.A')),
			),
		]
		expect(others).toEqual(others.map(() => undefined))
	})

	it('in the form of older versions opens, with each key of the list', () => {
		// Sealed by Remit 0.1.0 with a key of 32 times 1, for the purpose `webhook secret`.
		const old = 'BwcHBwcHBwcHBwcHiLZ6vQy2etpHI-D982bCWTgBzKKWOYnP1Q'
		const keyId = open(keyOf(1)).keyIds[0]
		for (const keys of [keyOf(1), `${keyOf(2)},${keyOf(1)}`])
			expect(open(keys).open(webhookSecret, row, old)).toEqual({ text: 'whsec_old', keyId })
		expect(open(keyOf(2)).open(webhookSecret, row, old)).toBeUndefined()
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

	it('are refused when one stands there twice', () => {
		expect(() => tokens(`${keyOf(1)},${keyOf(2)},${keyOf(1)}`)).toThrow(/^ENCRYPTION_KEYS: a key stands there twice/)
	})

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
			console.log([...openSecrets({ ENCRYPTION_KEYS: '', DATA_DIR: process.argv[2] }).tokens('links', 'a').values()][0])`
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
