import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { newQueryClient } from './api/query.ts'
import { fetchPages, newRouter } from './routes.ts'
import { askBeforeShownAgain } from './shell/back-cache.ts'
import { markWhatOpens } from './shell/opening.ts'
import { whenQuiet } from './ui/on-first-use.tsx'
import { applyTheme } from './ui/theme.ts'
import './ui/tokens.css'
import './ui/base.css'

// React Aria says its few words in the language of the pages, and moves as they read, whatever the language of the browser.
Object.assign(window, { [Symbol.for('react-aria.i18n.locale')]: 'en-US' })
applyTheme()
const client = newQueryClient()
askBeforeShownAgain(client)
const router = newRouter(client)
markWhatOpens(router)
// A task of its own: up to here it is that of all scripts.
setTimeout(async () => {
	// The page asks for what it shows before the first drawing, and is part of it.
	await router.load()
	const root = createRoot(document.getElementById('root') as HTMLElement)
	// React gives way to the browser between the parts of a transition.
	startTransition(() =>
		root.render(
			<QueryClientProvider client={client}>
				<RouterProvider router={router} />
			</QueryClientProvider>,
		),
	)
})
// The first formats that a browser makes take 25 ms: they pass while the server answers.
setTimeout(() => new Intl.NumberFormat())
setTimeout(() => new Intl.DateTimeFormat())
// So that every page opens at once, also when the connection is lost.
whenQuiet(fetchPages)
addEventListener('online', () => whenQuiet(fetchPages))
