import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { expectRefusal, Remit } from '../../../../test/remit.ts'
import { ConfigError } from '../../base/errors.ts'
import { openPaymentProcessor, type PaymentSettings } from './open.ts'

const settings: PaymentSettings = {
	PAYMENT_PROCESSOR: 'stripe',
	STRIPE_SECRET_KEY: 'sk_test_1',
	STRIPE_WEBHOOK_SECRET: 'whsec_1',
	STRIPE_API_BASE: '',
	HTTPS_PROXY: '',
	NO_PROXY: '',
	NODE_ENV: 'production',
	baseUrl: () => 'http://127.0.0.1:3000',
	testSecret: 'secret',
}
const opened = (changes: Partial<PaymentSettings>) => openPaymentProcessor({ ...settings, ...changes })

describe('the settings', () => {
	it('choose the processor', async () => {
		expect(await opened({})).toMatchObject({ name: 'stripe', pages: ['https://checkout.stripe.com'] })
		expect(await opened({ PAYMENT_PROCESSOR: 'test', NODE_ENV: 'development' })).toMatchObject({ name: 'test' })
		expect(await opened({ PAYMENT_PROCESSOR: 'none' })).toBeUndefined()
	})

	it('for Stripe need both secrets, and name what is missing', async () => {
		await expect(opened({ STRIPE_SECRET_KEY: '' })).rejects.toThrow(/STRIPE_SECRET_KEY$/)
		await expect(opened({ STRIPE_WEBHOOK_SECRET: ' ' })).rejects.toThrow(/STRIPE_WEBHOOK_SECRET$/)
		await expect(opened({ STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '' })).rejects.toThrow(ConfigError)
	})

	it('never choose the test processor in production', async () => {
		await expect(opened({ PAYMENT_PROCESSOR: 'test' })).rejects.toThrow(ConfigError)
		await expect(opened({ PAYMENT_PROCESSOR: 'test' })).rejects.toThrow('refused in production')
	})
})

describe('remit serve', () => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-payments-'))
	const remit = new Remit({ DATA_DIR: join(folder, 'data') }, folder)
	afterAll(() => {
		remit.stop()
		rmSync(folder, { recursive: true, force: true })
	})

	it.each([
		['the test processor in production', { PAYMENT_PROCESSOR: 'test' }, /^PAYMENT_PROCESSOR=test: refused in production/],
		['Stripe without its keys', { PAYMENT_PROCESSOR: 'stripe' }, /^PAYMENT_PROCESSOR=stripe: needs STRIPE_\w+ and STRIPE_\w+$/],
		['a processor that there is not', { PAYMENT_PROCESSOR: 'paypal' }, /^PAYMENT_PROCESSOR=paypal: must be one of/],
	])('refuses %s in one line', async (_, environment, line) => {
		const refused = await remit.run(['serve'], environment)
		expectRefusal(refused, line)
		expect(refused.stderr.trim().split('\n')).toHaveLength(1)
	})
})
