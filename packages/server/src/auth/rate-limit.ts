// Requests per minute, counted for each key, or for the address of who has none.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../errors.ts'

export interface RateLimit {
	/** Counts a request; returns the headers that tell what is left. Throws 429 when nothing is. */
	count(bucket: string): Promise<Record<string, string>>
}

/** `perMinute` 0 means no limit. */
export function rateLimit(perMinute: number): RateLimit {
	if (perMinute === 0) return { count: async () => ({}) }
	const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
	const headers = (state: RateLimiterRes) => ({
		'X-RateLimit-Limit': String(perMinute),
		'X-RateLimit-Remaining': String(state.remainingPoints),
		'X-RateLimit-Reset': String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)),
	})
	return {
		async count(bucket) {
			try {
				return headers(await limiter.consume(bucket))
			} catch (state) {
				if (!(state instanceof RateLimiterRes)) throw state
				const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
				throw new ApiError(
					'rate_limited',
					`There are ${perMinute} requests per minute for each key; try again in ${seconds} s.`,
					{
						headers: { ...headers(state), 'Retry-After': String(seconds) },
					},
				)
			}
		},
	}
}
