import { describe, expect, it } from 'vitest'
import { schemas } from './document.ts'
import { formats, trimmed } from './formats.ts'

describe('the formats', () => {
	const cases: Record<string, { good: unknown[]; bad: unknown[] }> = {
		text: { good: ['', 'a\nb', '🦊', '\u2028'], bad: ['\0', 'a\0', '\ud800', 'a\udc00b'] },
		line: {
			good: [
				...[
					'',
					' ',
					'é',
					'🦊',
					'\u00a0',
					'山田\u3000太郎',
					'❤\ufe0f',
					'1\ufe0f\u20e3',
					'👩\u200d👩\u200d👧',
					'❤\ufe0f\u200d🔥',
					'👍🏽',
				],
				...['می\u200cخواهم', 'क्\u200dष', '辻\u{e0100}'],
			],
			bad: [
				...[
					'\u200b',
					'a\u200b',
					'a\u00adb',
					'a\u2060b',
					'\ufeffa',
					'a\u200eb',
					'\u200fa',
					'a\u2066b',
					'a\u061c',
					'a\u3164',
					'a\u2800b',
				],
				...[
					'a\u200d',
					'a\u200cb',
					'ü\u200db',
					'a\ufe0f',
					'1\ufe0f',
					'می\u200c',
					'\u200dمی',
					'а\u200cб',
					'🏴\u{e0067}\u{e007f}',
					'a\u034fb',
				],
				...['\n', 'a\r', '\t', '\u0085', '\u2028', '\u2029', '\u202d', '\u202e', '\u007f', '\0', '\ud800'],
			],
		},
		identifier: {
			good: ['', 'ZZ-1', 'ZZ 1', '請求書 7', 'é', '🦊'],
			bad: [
				'a\u00a0b',
				'a\u3000b',
				'a\u200cb',
				'می\u200cخ',
				'1\ufe0f',
				'❤\ufe0f',
				'a\u00ad',
				'a\nb',
				'a\tb',
				'\u200b',
				'\0',
				'\ud800',
			],
		},
		currency: {
			good: ['USD', 'EUR', 'JPY', 'KWD', 'CLP', 'CHF', 'COP', 'XAF', 'XCD', 'XOF', 'XPF'],
			bad: [
				...['usd', 'ABC', 'EU', 'EURO', ' USD', '', 'DEM'],
				...['XAG', 'XAU', 'XPD', 'XPT', 'XBA', 'XBB', 'XBC', 'XBD', 'XDR', 'XSU', 'XUA', 'XTS', 'XXX'],
				...['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW'],
			],
		},
		decimal: {
			good: ['0', '-0', '1.5', '-1.000001', '999999999999.999999', '007'],
			bad: ['', '.5', '5.', '1.0000001', '1000000000000', '+1', '1e3', '1,5', '١', ' 1', '1\n', 'NaN', '0x1'],
		},
		'decimal-number': { good: [0, -0, 1.5, -1.000001, 999999999999, 0.000001], bad: [1e-7, 0.1234567, 1e21, NaN, Infinity] },
		'percent-text': {
			good: ['0', '9.975', '8.1', '100', '100.0000', '00'],
			bad: ['100.1', '-1', '9.97512', '', '101', '1e1', '5.', '1\n'],
		},
		percent: { good: [0, -0, 9.975, 8.1, 100, 0.0001, 33.3333], bad: [100.0001, -0.1, 9.97512, 1e-7, NaN, 0.1 + 0.2] },
		'date-or-date-time': {
			good: [
				'1970-01-01',
				'2200-12-31',
				'2024-02-29',
				'2026-03-31T10:00:00Z',
				'2026-03-31t10:00:00.123456+14:00',
				'2026-03-31T23:59:59-23:59',
			],
			bad: [
				...[
					'2026-02-30',
					'2025-02-29',
					'2026-13-01',
					'2026-00-10',
					'1969-12-31',
					'2201-01-01',
					'26-01-01',
					'2026-1-1',
					'',
					'20260331',
				],
				...[
					'2026-03-31T10:00',
					'2026-03-31T10:00:00',
					'2026-03-31 10:00:00Z',
					'2026-03-31T24:00:00Z',
					'2026-03-31T10:60:00Z',
					'2026-03-31T10:00:61Z',
				],
				...[
					'2026-03-31Z',
					'2026-03-31T10:00:00+24:00',
					'2026-03-31T10:00:00+0100',
					'1970-01-01T00:00:00+01:00',
					'2026-03-31\n',
					'+002026-03-31',
				],
			],
		},
		email: {
			good: [
				...['a@1.example', 'a@1.2.3.4.example', 'a.b.c@b.example', 'a@b.4x', 'a@b.x4', '1.2@3com.example'],
				...['a@b.example', 'first.last+tag@sub.b-c.example', "o'hara@b.example", 'ü@b.example', 'a@xn--mller-kva.example'],
				...[
					'info@müller.example',
					'info@MÜLLER.example',
					'a@例え.テスト',
					'a@مثال.إختبار',
					'é@straße.example',
					'a@paral·lel.example',
				],
				`a@${'ü'.repeat(50)}.example`,
				...[`${'a'.repeat(64)}@b.example`, `a@${'b'.repeat(63)}.example`, `a@${'b.'.repeat(122)}example`],
			],
			bad: [
				'',
				'a',
				...['x@-bad.example', 'x@bad-.example', 'x@b.-example', 'x@b.example-', 'x@-müller.example', 'x@müller-.example'],
				...[`${'a'.repeat(65)}@b.example`, `${'ü'.repeat(33)}@b.example`, `a@${'b'.repeat(64)}.example`],
				`a@${'b.'.repeat(124)}example`,
				'a@b',
				'@b.example',
				'a@',
				'a b@c.example',
				'a@b.example\r\nBcc: x@y.example',
				'<a@b.example>',
				'a@b..example',
				...['a..b@c.example', '.a@b.example', 'a.@b.example', '.@b.example', '"a"@b.example', '"a..b"@c.example'],
				...['a@1.2.3.4', 'a@[1.2.3.4]', 'a@b.123', 'a@müller.12', 'a@[IPv6:2001:db8::1]'],
				'a@@b.example',
				'a@b.example,c@d.example',
				'a@b.example\n',
				'a\0b@c.example',
				'a\u202eb@c.example',
				...['a@müller', 'a@.müller.example', 'a@müller..example', 'a@mül ler.example', 'a@müller.example\n', 'a@mü_ller.example'],
				...[
					'a@müller.example,b@c.example',
					'a@mü@ller.example',
					'a@mü\u202eller.example',
					'a@mü％0aller.example',
					'a@müller.１２',
				],
				...['a@ｂ.ｅｘａｍｐｌｅ', 'a@１.２.３.４', 'a@b。müller.example', 'a@\u0301ü.example', 'a@xn--ü.example'],
				`a@${'ü'.repeat(60)}.example`,
				`${'a'.repeat(200)}@${'ü'.repeat(40)}.example`,
			],
		},
		'event-pattern': {
			good: ['*', 'invoice.*', 'invoice.paid', 'webhook.*', 'webhook.endpoint.*', 'time_entry.created'],
			bad: [
				'',
				'invoice',
				'invoice.',
				'.*',
				'**',
				'invoice.*.paid',
				'invoice.unknown',
				'Invoice.paid',
				'unknown.*',
				'*.paid',
				'invoice.paid ',
				'__proto__',
			],
		},
		'header-name': {
			good: ['X-Api-Key', 'authorization', 'a', "!#$%&'*+.^_`|~-", '__proto__'],
			bad: [
				'',
				'a b',
				'a:',
				'é',
				'Webhook-Id',
				'webhook-x',
				'HOST',
				'Content-Type',
				'connection',
				'Transfer-Encoding',
				'a\n',
				'proxy-x',
			],
		},
		'header-value': { good: ['a', 'Bearer a.b+c==', 'a  b'], bad: ['', ' a', 'a ', 'a\r\nb', 'a\0', 'é', '\t'] },
		'event-cursor': { good: ['0', '123456789012345', 'now'], bad: ['', '-1', '1.5', '0x1', '1e3', ' 1', 'evt_1', '١'] },
		'webhook-url': {
			good: [
				'https://acme.example',
				'HTTPS://acme.example:8443/hooks?a=b@c&d=[e]',
				'http://127.0.0.1:1/',
				'http://[2001:db8::1]/x',
				'https://bücher.example/%20',
			],
			bad: [
				'',
				'acme.example',
				'//acme.example',
				'ftp://acme.example',
				'file:///etc/passwd',
				'javascript:alert(1)',
				'https://',
				'https:///path',
				'https://user@acme.example',
				'https://user:pass@acme.example/',
				'https://acme.example#fragment',
				'https://acme.example/a b',
				' https://acme.example',
				'https://acme.example\n',
				'https://acme.example\\@evil.example',
				'https://acme.example:99999/',
				'https://acme.example/\0',
				'https://[::1',
			],
		},
		'date-time-offset': {
			good: ['2026-03-31T10:00:00Z', '2026-03-31t10:00:00.123456+14:00'],
			bad: ['', '2026-03-31', '2026-03-31T10:00:00', '2026-02-30T10:00:00Z', '2201-01-01T00:00:00Z'],
		},
		'time-zone': {
			good: ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Pacific/Auckland'],
			bad: ['', '+01:00', '-05:00', 'Mars/Olympus', 'Europe/Berlin\n', '../UTC'],
		},
		locale: {
			good: ['en', 'de-DE', 'pt-BR', 'zh-Hant-TW', 'ar'],
			bad: ['', 'x', 'de_DE', 'deutsch ', 'en-', 'xx'],
		},
	}

	it('each have cases here, and the contract names no other format', () => {
		expect(Object.keys(cases).sort()).toEqual(Object.keys(formats).sort())
		const named = new Set<unknown>()
		const walk = (value: unknown) => {
			if (typeof value !== 'object' || value === null) return
			if ('format' in value && typeof value.format === 'string') named.add(value.format)
			for (const [name, below] of Object.entries(value)) if (!name.startsWith('example')) walk(below)
		}
		walk(schemas)
		for (const format of named) expect([...Object.keys(formats), 'int32', 'int64', 'date-time']).toContain(format)
	})

	describe.each(Object.entries(cases))('%s', (name, { good, bad }) => {
		it.each(good.map((value) => [value]))('takes %j', (value) => {
			expect(formats[name]?.validate(value as never)).toBe(true)
		})
		it.each(bad.map((value) => [value]))('refuses %j', (value) => {
			expect(formats[name]?.validate(value as never)).toBe(false)
		})
	})
})

it.each([
	[' ZZ-1\u00a0\t\n', 'ZZ-1'],
	['\u3000\u2003\ufeffMu\u0308ller ', 'Müller'],
	[' \u2028', ''],
	['a  b', 'a  b'],
])('trimmed %j is %j', (text, stored) => {
	expect(trimmed(text)).toBe(stored)
})
