// Limits how often somebody can be wrong about a password: by the address and where the attempt comes from, and by the address alone.
import { hash } from 'node:crypto'
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../base/errors.ts'

/** Attempts to sign in. An attempt counts until it has succeeded, so that many at once are no way around the limit. */
export interface SignInLimit {
	/**
	 * Throws 429 when there were too many failures, whether or not anybody has the address. `isKnown` is asked when too many came from all
	 * places together: whether somebody who has the address has signed in at this one, which a stranger elsewhere does not take away.
	 */
	attempt(visitor: string, email: string, isKnown?: () => Promise<boolean>): Promise<void>
	succeeded(visitor: string, email: string): Promise<void>
	/** Forgets the failures: whoever sets a new password by a mail owns the address. */
	reset(visitor: string, email: string): Promise<void>
	/** Whether one more mail to set a password may go to the address, because of this visitor. */
	mayMail(visitor: string, email: string): Promise<boolean>
}

export const signInWindows = {
	place: { points: 10, duration: 15 * 60 },
	address: { points: 100, duration: 86_400 },
	mail: { points: 3, duration: 3_600 },
	mailPlace: { points: 20, duration: 3_600 },
} as const

type Limiters = Readonly<Record<keyof typeof signInWindows, RateLimiterAbstract>>

/** Addresses share 262,144 counters, so that an attacker with many of them does not use up the memory. */
const counterOf = (email: string) => hash('sha256', email, 'base64url').slice(0, 3)

export function signInLimit({ place, address, mail, mailPlace }: Limiters): SignInLimit {
	return {
		async attempt(visitor, email, isKnown = async () => false) {
			try {
				await place.consume(`${visitor} ${counterOf(email)}`)
				await address.consume(counterOf(email)).catch(async (state) => {
					if (!(await isKnown())) throw state
				})
			} catch (state) {
				if (!(state instanceof RateLimiterRes)) throw state
				const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
				const detail = `Too many attempts to sign in as this address; try again in ${seconds} s, or set a new password.`
				throw new ApiError('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } })
			}
		},
		async succeeded(visitor, email) {
			await place.reward(`${visitor} ${counterOf(email)}`)
			await address.reward(counterOf(email))
		},
		async reset(visitor, email) {
			await place.delete(`${visitor} ${counterOf(email)}`)
			await address.delete(counterOf(email))
		},
		mayMail: (visitor, email) =>
			Promise.all([mailPlace.consume(visitor), mail.consume(counterOf(email))]).then(
				() => true,
				() => false,
			),
	}
}
