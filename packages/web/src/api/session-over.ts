// When the server no longer knows who asks: requests wait until the same person has signed in again, and other tabs learn who is in.

type Listener = () => void

let waiting: PromiseWithResolvers<void> | undefined
const listeners = new Set<Listener>()

/** Calls the listener when a request waits for somebody to sign in. */
export function onSessionOver(listener: Listener): Listener {
	listeners.add(listener)
	if (waiting) listener()
	return () => listeners.delete(listener)
}

/** Resolves when the same person has signed in again; rejects when the request is no longer wanted. */
export async function signedInAgain(signal?: AbortSignal): Promise<void> {
	waiting ??= Promise.withResolvers()
	for (const listener of listeners) listener()
	const { promise } = waiting
	await new Promise<void>((resolve, reject) => {
		signal?.addEventListener('abort', () => reject(signal.reason))
		void promise.then(resolve)
	})
}

/** Sends what waits. */
export function goOn(): void {
	waiting?.resolve()
	waiting = undefined
}

let isLeft = false

/** Whether the page is being replaced, so that nothing guards what is in it. */
export const isStartingAfresh = (): boolean => isLeft

/** Replaces the page, so that nothing of the person before is kept. The path begins with one slash and is below /app. */
export function startAfresh(path: string): void {
	isLeft = true
	location.replace(`/app${path}`)
}

let channel: BroadcastChannel | undefined
const openChannel = () => {
	channel ??= new BroadcastChannel('remit session')
	return channel
}

/** Tells other tabs who has signed in; null: nobody is. */
export const tellTabs = (personId: string | null): void => openChannel().postMessage(personId)

export function onOtherTab(listener: (personId: string | null) => void): Listener {
	const opened = openChannel()
	const hear = ({ data }: MessageEvent<string | null>) => listener(data)
	opened.addEventListener('message', hear)
	return () => opened.removeEventListener('message', hear)
}
