import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../../platform/outside/http.ts'
import { classify, signalOf } from './results.ts'

const target = {
	organizationId: 'org_1',
	endpointId: 'whe_1',
	version: 1,
	host: 'receiver.example',
	provenAt: 0,
	lapsedAt: null,
	...{ failingSince: null, warnedAt: null, worksSince: null, resumedAt: null },
	networks: '[]',
	url: 'https://hooks.example',
	secret: '',
	previousSecret: null,
	previousSecretExpiresAt: null,
	headers: null,
}

const claimed = {
	endpointId: 'whe_1',
	deliveryId: 'whd_1',
	dueSince: 0,
	retryCount: 0,
	scheduledAt: null,
	outOfOrder: false,
	eventId: 'evt_1',
	organizationId: 'org_1',
	resourceId: 'inv_1',
	sequence: 1,
	attemptCount: 0,
} as const

const answered = (status: number, more: Partial<Outcome> = {}): Outcome => ({
	responseStatus: status,
	responseBody: 'body',
	retryAfter: undefined,
	error: status < 300 ? null : `answered ${status}`,
	durationMs: 7,
	sent: true,
	brokenOff: false,
	heldBack: false,
	unreached: false,
	...more,
})

const unanswered = (error: string): Outcome => ({ ...answered(0), responseStatus: null, responseBody: null, error })

const at = { startedAt: 1_000, endedAt: 2_000, leaseEnd: 9_000, request: '{}' }
const attempted = (outcome: Outcome, retryCount = 0, schedule = [0, 100]) =>
	classify({ target, claimed: { ...claimed, retryCount }, outcome, schedule, ...at })

describe('classify', () => {
	it('writes down what was sent and what came back', () => {
		expect(attempted(answered(204))).toEqual({
			target,
			failed: false,
			heldBack: false,
			unreached: false,
			network: undefined,
			result: {
				organizationId: 'org_1',
				id: 'whd_1',
				endpointId: 'whe_1',
				resourceId: 'inv_1',
				number: 1,
				sequence: 1,
				wasOutOfOrder: false,
				status: 'succeeded',
				nextAttemptAt: null,
				scheduledAt: null,
				counts: 1,
				responseStatus: 204,
				responseBody: 'body',
				error: null,
				durationMs: 7,
				...at,
			},
		})
	})

	it('lets a failure be tried again as the schedule says, counted from its end', () => {
		const { failed, result } = attempted(answered(500))
		expect([failed, result.status]).toEqual([true, 'retrying'])
		expect(result.nextAttemptAt).toBeGreaterThanOrEqual(82_000)
		expect(result.nextAttemptAt).toBeLessThanOrEqual(122_000)
	})

	it('ends a delivery whose attempts are used up, or that is gone', () => {
		expect(attempted(answered(500), 1).result).toMatchObject({ status: 'exhausted', nextAttemptAt: null })
		expect(attempted(unanswered('connection refused'), 1).result).toMatchObject({ status: 'exhausted', nextAttemptAt: null })
		expect(attempted(answered(410, { retryAfter: '60' })).result).toMatchObject({ status: 'exhausted', nextAttemptAt: null })
	})

	it('puts the delivery off for as long as any failure asks, and the whole endpoint only for 429 and 503', () => {
		for (const status of [301, 400, 404, 500, 502]) {
			const { pause, result } = attempted(answered(status, { retryAfter: '600' }))
			expect([pause?.until, result.nextAttemptAt, result.scheduledAt]).toEqual([undefined, 602_000, 602_000])
		}
		for (const status of [429, 503]) {
			const { pause, result } = attempted(answered(status, { retryAfter: '600' }))
			expect([pause?.until, result.nextAttemptAt]).toEqual([602_000, 602_000])
		}
		expect(attempted(answered(503))).not.toHaveProperty('pause')
		expect(attempted(answered(503, { retryAfter: 'soon' }))).not.toHaveProperty('pause')
		expect(attempted(answered(200, { retryAfter: '600' })).result).toMatchObject({ status: 'succeeded', nextAttemptAt: null })
	})

	it('holds a delivery for a day at most, and its endpoint for an hour', () => {
		const { pause, result } = attempted(answered(503, { retryAfter: '999999999' }))
		expect([pause?.until, result.nextAttemptAt]).toEqual([3_602_000, 86_402_000])
	})

	it('holds an endpoint for its pause even when the delivery has no attempt left', () => {
		expect(attempted(answered(429, { retryAfter: '60' }), 1)).toMatchObject({
			pause: { from: 2_000, until: 62_000 },
			result: { status: 'exhausted' },
		})
	})
})

describe('signalOf', () => {
	it('says that an endpoint works when one attempt of the batch succeeded, and that it is gone when one answered so', () => {
		const [works, fails, gone] = [attempted(answered(204)), attempted(answered(500)), attempted(answered(410))]
		expect(signalOf([fails, fails])).toBe('fails')
		expect(signalOf([fails, works, fails])).toBe('works')
		expect(signalOf([works, gone, fails])).toBe('gone')
	})
})
