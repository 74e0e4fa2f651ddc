import { Outlet, useMatches } from '@tanstack/react-router'
import { Suspense } from 'react'
import { Frame } from './frame.tsx'

/** The pages before anybody is signed in stand alone; all others have the frame around them. */
export function Root() {
	const isOutside = useMatches({ select: (matches) => matches.some(({ staticData }) => staticData.isOutside) })
	if (!isOutside) return <Frame />
	return (
		<main id="page" className="outside">
			<Suspense>
				<Outlet />
			</Suspense>
		</main>
	)
}
