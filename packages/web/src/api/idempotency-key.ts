// The key under which the server does a write once, however often a person presses.
import { useRef } from 'react'
import { mayBeDone } from './errors.ts'
import { randomId } from './random-id.ts'

/**
 * One key for what is sent from a form or dialog. After a refusal the next press has a key of its own, since it may send something else; after an answer
 * that was lost it keeps the key for good: what is pressed again is then either done once, or refused because it is not the same.
 */
export function useIdempotencyKey() {
	const key = useRef(randomId())
	const isDoubtful = useRef(false)
	const renew = () => {
		key.current = randomId()
		isDoubtful.current = false
	}
	return {
		/** What the write takes as its options. */
		options: () => ({ idempotencyKey: key.current }),
		failed: (error: unknown): void => {
			if (mayBeDone(error)) isDoubtful.current = true
			else if (!isDoubtful.current) renew()
		},
		/** For the next write of a form that stays. */
		renew,
	}
}
