import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { Banner } from '../ui/banner.tsx'

const subscribe = (changed: () => void) => onlineManager.subscribe(changed)

export function Offline() {
	const isOnline = useSyncExternalStore(subscribe, () => onlineManager.isOnline())
	if (isOnline) return null
	return <Banner>No connection. You see what was loaded before; what you save is sent when it is back.</Banner>
}
