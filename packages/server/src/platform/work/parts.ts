// Cuts long work into short transactions, so that requests get in between.

/**
 * Runs `part` until it returns false or the signal aborts. It rests after each part for as long as the part took: on SQLite the
 * work and all requests share one thread.
 */
export async function inParts(part: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
	while (!signal?.aborted) {
		const began = performance.now()
		if (!(await part())) return
		const tookMs = performance.now() - began
		await new Promise((resolve) => setTimeout(resolve, tookMs))
	}
}
