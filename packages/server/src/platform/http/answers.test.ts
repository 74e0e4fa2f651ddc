import type { Request } from 'express'
import { describe, expect, it } from 'vitest'
import { OutcomeUnknown } from '../db/database.ts'
import { toApiError } from './answers.ts'

type Effect = Request['context']['effect']

/** What a caller reads of an error in a request whose effect is known so far. */
function answerTo(error: unknown, effect: Effect, headers: Request['headers'] = {}, idempotent = true, method = 'POST') {
	const operation = { idempotent, method }
	const { code, message } = toApiError(error, { context: { effect, operation } as Request['context'], headers })
	return [code, message]
}

describe('an error that nobody foresaw', () => {
	it.each([
		['none', 'The server failed; nothing was stored.', 'The disk of the database is full; nothing was stored.'],
		['possible', 'The server failed.', 'The disk of the database is full.'],
		['stored', 'The server failed; the change was stored.', 'The disk of the database is full; the change was stored.'],
	] as const)('says of the request, whose effect is %s, only what is certain', (effect, failed, full) => {
		expect(answerTo(new Error('a secret'), effect)).toEqual(['internal_error', failed])
		expect(answerTo({ code: 'SQLITE_FULL' }, effect)).toEqual(['unavailable', full])
	})

	it('advises a repeat only where an Idempotency-Key makes it safe', () => {
		const unknown = new OutcomeUnknown(new Error('lost'))
		const [withKey, without] = [/: repeat it with the same Idempotency-Key\.$/, /: look whether it was before you repeat it\.$/]
		const headers = { 'idempotency-key': 'once' }
		expect(answerTo(unknown, 'none', headers)).toEqual(['outcome_unknown', expect.stringMatching(withKey)])
		expect(answerTo(unknown, 'none')).toEqual(['outcome_unknown', expect.stringMatching(without)])
		expect(answerTo(unknown, 'none', headers, false)).toEqual(['outcome_unknown', expect.stringMatching(without)])
	})

	it('leaves no doubt to a GET, which anybody may repeat', () => {
		const unknown = new OutcomeUnknown({ code: 'SQLITE_IOERR_FSYNC' })
		const detail = 'The database cannot use its disk.'
		expect(answerTo(unknown, 'possible', {}, false, 'GET')).toEqual(['unavailable', detail])
	})
})
