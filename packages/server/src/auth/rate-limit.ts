// Requests per minute, counted for each key, or for the address of who has none.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../errors.ts'

export interface RateLimit {
	/** Counts a request; returns the headers that tell what is left. Throws 429 when nothing is. */
	count(bucket: string): Promise<Record<string, string>>
	/** The same for a visitor without a key, who is also refused after too many tokens that are none. */
	countVisitor(address: string | undefined): Promise<Record<string, string>>
	/** Counts a token that is none. */
	countMiss(address: string | undefined): void
}

/** Wrong tokens that an address may try in a minute. A token has 192 bits: this is against noise more than against luck. */
const missesPerMinute = 30

/** `perMinute` 0 means no limit. */
export function rateLimit(perMinute: number): RateLimit {
	if (perMinute === 0) return { count: async () => ({}), countVisitor: async () => ({}), countMiss() {} }
	const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
	const misses = new RateLimiterMemory({ points: missesPerMinute, duration: 60 })
	const headers = (state: RateLimiterRes) => ({
		'X-RateLimit-Limit': String(perMinute),
		'X-RateLimit-Remaining': String(state.remainingPoints),
		'X-RateLimit-Reset': String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)),
	})
	const refusal = (state: RateLimiterRes, what: string) => {
		const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
		return new ApiError('rate_limited', `${what}; try again in ${seconds} s.`, {
			headers: { ...headers(state), 'Retry-After': String(seconds) },
		})
	}
	async function count(bucket: string) {
		try {
			return headers(await limiter.consume(bucket))
		} catch (state) {
			if (!(state instanceof RateLimiterRes)) throw state
			throw refusal(state, `There are ${perMinute} requests per minute for each key`)
		}
	}
	return {
		count,
		async countVisitor(address) {
			const missed = await misses.get(`address ${address}`)
			if (missed && missed.consumedPoints >= missesPerMinute) throw refusal(missed, 'Too many links that do not exist')
			return count(`address ${address}`)
		},
		countMiss(address) {
			misses.consume(`address ${address}`).catch(() => {})
		},
	}
}
