// Two presses of one button, one right after the other, are one.
import { useRef } from 'react'

/** So soon after the first press the second one is of the same hand, also where the answer has come in between. */
const onePressMs = 300

/**
 * Does a piece of work once for all presses that come while it runs or just after it began, without waiting until the page shows that
 * it runs. The name tells it from other work, such as what a form sends once a mistake in it is mended. For the other presses nothing
 * follows: their promise never ends.
 */
export function useOnePress() {
	const underWay = useRef(new Set<string>())
	return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
		const names = underWay.current
		if (names.has(name)) return new Promise<never>(() => {})
		names.add(name)
		const passed = new Promise((resolve) => setTimeout(resolve, onePressMs))
		try {
			const result = await work()
			void passed.then(() => names.delete(name))
			return result
		} catch (error) {
			// Whoever presses now has seen that it failed.
			names.delete(name)
			throw error
		}
	}
}
