import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components/Toast'
import { needToasts } from './first-toast.ts'

export interface Message {
	readonly text: string
	readonly action?: { readonly label: string; readonly onPress: () => void }
}

export const queue = new ToastQueue<Message>({ maxVisibleToasts: 3 })

/** Says what has succeeded, for six seconds; errors stay where they happened. */
export function toast(text: string, action?: Message['action']): string {
	needToasts()
	return queue.add({ text, action }, { timeout: 6_000 })
}
